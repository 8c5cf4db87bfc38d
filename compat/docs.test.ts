import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { examples } from '../test/kit/docs/pages'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { javaCommand } from '../test/kit/java/availability'
import { buildPeer } from '../test/kit/java/build'
import { sharedStandalone } from '../test/kit/servers/index'

const VERSION = REDISSON_VERSIONS.newest
const EXAMPLES = examples('java')

/** The examples in Java of the README and of docs/, each as a method of one program: a JVM takes a second to start. */
function program(url: string): string {
  const methods = EXAMPLES.map(
    ({ code, page, line }, at) => `
    /** ${page}, line ${line} */
    static void example${at}(RedissonClient redisson, long order) throws Exception {
${code}
    }`,
  )
  const calls = EXAMPLES.map((_, at) => `        example${at}(redisson, 42);`)
  return `
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.config.Config;

public class Examples {
    static void ship(long order) {}
${methods.join('\n')}

    public static void main(String[] arguments) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress("${url}");
        RedissonClient redisson = Redisson.create(config);
${calls.join('\n')}
        redisson.shutdown();
    }
}`
}

describeWithJava('The examples in Java', () => {
  it(`The examples in Java of the README and of docs/ compile and run with Redisson ${VERSION}`, async () => {
    const [{ classpath }, { host, port }] = [await buildPeer(VERSION), await sharedStandalone()]
    const directory = mkdtempSync(join(tmpdir(), 'rlock-java-'))
    try {
      const file = join(directory, 'Examples.java')
      writeFileSync(file, program(`redis://${host}:${port}`))
      await promisify(execFile)(javaCommand('java'), ['-cp', classpath, file], { timeout: 50_000 })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
}, [VERSION])
