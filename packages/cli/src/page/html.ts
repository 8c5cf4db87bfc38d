import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawTimeline, THEMES } from './timeline'
import { inRows } from './view'

/** The page: one file with its script, its style, and the source of the renderer that chaos and the simulator use, too. */
export function pageHtml(): string {
  return readFileSync(join(__dirname, 'page.html'), 'utf8')
    .replace("'the themes'", () => JSON.stringify(THEMES))
    .replace("'the renderer'", () => String(drawTimeline))
    .replace("'the rows'", () => String(inRows))
}

/** The page may run its own script and style, and talk to this server; nothing else. No text may become markup. */
export function policyOf(html: string): Record<string, string> {
  const hash = (tag: string) => {
    const [, content = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html) ?? []
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
  }
  return {
    'content-security-policy':
      `default-src 'none'; script-src ${hash('script')}; style-src ${hash('style')}; connect-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  }
}
