import { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/redisson'
import { expectHandledRejections } from '../../kit/observing'
import { rejection } from '../../kit/rejection'

const host = 'nowhere.invalid'
const nodes = [{ host, port: 7000 }]
const sentinels = [{ host, port: 26379 }]

/** What a client of node-redis looks like from outside. */
class RedisClient extends EventEmitter {
  readonly isOpen = true
  readonly isReady = true
  readonly options = { socket: { host, port: 6379 }, password: 's3cret' }
  async connect() {}
  async sendCommand() {}
  async disconnect() {}
  duplicate() {
    return new RedisClient()
  }
}

/** A TypeError unless it says another. */
const refused: [string, unknown, RegExp, RangeErrorConstructor?][] = [
  ['nothing in it', {}, /redis does not say where.*host.*port.*path.*sentinels/],
  ['a URL under another name', { uri: 'redis://:s3cret@h' }, /redis\.uri.*URL itself/],
  ['a URL under its name that is missing', { url: undefined }, /redis\.url.*environment variable/],
  ['a URL under its name that is none', { url: 's3cret' }, /redis\.url is not a valid URL/],
  ['a URL with a host beside', { url: 'redis://:s3cret@h', host }, /redis\.host.*keep one/],
  ['a URL with a password beside', { url: 'redis://:s3cret@h', password: 's3cret' }, /redis\.password/],
  ['a URL with another database beside', { url: 'redis://h/1', db: 2 }, /redis\.db/],
  ['a URL with TLS and tls false beside', { url: 'rediss://h', tls: false }, /redis\.tls is false/],
  ['a URL with a word beside', { url: 'redis://h', prot: 1 }, /redis\.prot/],
  ['a misspelt port', { host, prot: 6380 }, /redis\.prot; known here: .*port/],
  ['a misspelt password', { host, pasword: 's3cret' }, /redis\.pasword; known here: .*password/],
  ['a socket', { socket: { host, port: 6379 } }, /redis\.socket; known here: .*host/],
  ['a sentinel', { sentinel: sentinels, name: 'm' }, /redis\.sentinel; known here: .*sentinels/],
  ['a database by another name', { port: 6379, database: 3 }, /redis\.database; known here: .*db/],
  ['no word of ioredis', { host, timeout: 5 }, /redis\.timeout/],
  ['a key that is a URL', { 'redis://:s3cret@h:6379': '' }, /unknown option/],

  ['an array', [host, 6379], /redis must be.*Array/],
  ['an array of nodes', nodes, /redis must be.*Array/],
  ['a Map', new Map([['host', host]]), /redis must be.*Map/],
  ['a promise', Promise.resolve('redis://h'), /redis must be.*Promise/],
  ['a function', () => 'redis://h', /redis must be.*function/],
  ['a date', new Date(), /redis must be.*Date/],
  ['a live client of another library', new RedisClient(), /RedisClient.*not.*ioredis/],
  ['that client with an address beside', Object.assign(new RedisClient(), { host }), /RedisClient/],
  ['a mock of a client', { get() {}, on() {}, quit() {} }, /@rlock\/testing/],
  ['what merely can be duplicated', { duplicate() {}, options: { host } }, /not.*ioredis/],

  ['no host and no port', { host: undefined, port: undefined }, /redis\.host is undefined.*environment/],
  ['no host but a port', { host: undefined, port: 6379 }, /redis\.host is undefined/],
  ['a host that is null', { host: null, port: 6379 }, /redis\.host is null/],
  ['an empty host', { host: '', port: 6379 }, /redis\.host/],
  ['no path', { path: undefined }, /redis /],
  ['an empty path', { path: '' }, /redis\.path/],
  ['a URL as the path (V17)', { path: 'redis://:s3cret@h' }, /redis\.path.*URL/],
  ['a URL with TLS as the path (V17)', { path: 'rediss:s3cret@h' }, /redis\.path.*URL/],
  ["a URL as a node's path (V17)", { nodes: [{ path: 'redis://:s3cret@h' }] }, /nodes\[0\]\.path.*URL/],
  ['a URL as the name of a primary (V17)', { sentinels, name: 'redis://:s3cret@h' }, /redis\.name/],
  ['nothing but a password', { password: 's3cret' }, /redis .*host/],
  ['nothing but a database', { db: 3 }, /redis .*host/],
  ['a URL as the host', { host: 'redis://:s3cret@h' }, /redis\.host/],
  ['a host and a port in one word', { host: 'h:6379' }, /redis\.host/],
  ['a host of two words', { host: 'h:6379 s3cret' }, /redis\.host/],
  ['a host that is a number', { host: 6379 }, /redis\.host.*string/],
  ['a name that is a number', { sentinels, name: 5 }, /redis\.name.*string/],
  ['a timeout that is text', { host, connectTimeout: 'soon' }, /redis\.connectTimeout/],
  ['a timeout that is NaN', { host, connectTimeout: Number.NaN }, /redis\.connectTimeout/, RangeError],
  ['a timeout below 0', { host, connectTimeout: -1 }, /redis\.connectTimeout/, RangeError],
  ['a family that is none', { host, family: 7 }, /redis\.family/, RangeError],
  ['a key that every object has', JSON.parse('{"constructor": 1, "host": "h"}'), /redis\.constructor; known/],

  ['db NaN', { host, db: Number.NaN }, /redis\.db.*NaN/, RangeError],
  ['db below 0', { host, db: -1 }, /redis\.db.*-1/, RangeError],
  ['db with a fraction', { host, db: 1.5 }, /redis\.db.*1\.5/, RangeError],
  ['db without end', { host, db: Number.POSITIVE_INFINITY }, /redis\.db/, RangeError],
  ['db beyond what a server can have', { host, db: 2 ** 31 }, /redis\.db/, RangeError],
  ['db that is a word', { host, db: 'abc' }, /redis\.db/],
  ['db that begins with a number', { host, db: '1abc' }, /redis\.db/],
  ['db that is empty', { host, db: '' }, /redis\.db/],
  ['db that is a flag', { host, db: true }, /redis\.db/],
  ['port 0', { host, port: 0 }, /redis\.port/, RangeError],
  ['port NaN', { host, port: Number.NaN }, /redis\.port/, RangeError],
  ['port with a fraction', { host, port: 63.79 }, /redis\.port/, RangeError],
  ['port beyond the last', { host, port: 65536 }, /redis\.port.*65535/, RangeError],
  ['port that is a word', { host, port: 'abc' }, /redis\.port/],
  ['port that is empty', { host, port: '' }, /redis\.port/],

  ['a URL with a word as database', 'redis://h/abc', /database/],
  ['a URL with a word after a database', 'redis://h/1abc', /database/],
  ['a URL with a database below 0', 'redis://h/-1', /database/],
  ['a URL with two paths', 'redis://h/1/2', /database/],
  ['a URL with a database beyond any', 'redis://h/99999999999', /db/, RangeError],
  ['a URL without a host', 'redis:///3', /host/],
  ['a URL of nothing', 'redis://', /host/],
  ['a URL without slashes', 'redis:h:6379', /host/],
  ['a URL of missing variables', 'redis://undefined:6379', /undefined/],
  ['a URL of two missing variables', 'redis://undefined:undefined', /URL/],
  ['a URL with port 0', 'redis://h:0', /port/, RangeError],
  ['a URL with a fragment', 'redis://h#s3cret', /percent-encode/],
  ['a URL with a word that is none of ours', 'redis://h?dbase=3', /dbase.*known here: .*db/],
  ['a URL that would have TLS', 'redis://h?tls=true', /tls.*rediss/],
  ['a URL with certificates', 'rediss://h?ssl_cert_reqs=none', /ssl_cert_reqs/],
  ['a URL with a database twice', 'redis://h/1?db=2', /db.*twice/],
  ['a URL with a password twice', 'redis://:s3cret@h?password=s3cret2', /password.*twice/],
  ['a URL with a word as database in its query', 'redis://h?db=abc', /db/],
  ['a URL with a word as a number', 'redis://h?connectTimeout=soon', /connectTimeout/],
  ['a URL with an option that is no text', 'redis://h?noDelay=true', /noDelay; known here/],
  ['a URL with a key prefix', 'redis://h?keyPrefix=a:', /nameMapper/],
  ['a URL object with a word as database', new URL('valkey://h/abc'), /database/],
  ['a URL of another protocol', new URL('https://h'), /begins? with redis:\/\//],
  ['an address without a protocol', '//h:6379', /URL/],
  ['a host and a port in one', 'localhost:6379', /begins? with redis:\/\//],
  ['a URL of no socket', 'redis+unix://', /redis\+unix:\/\/\//],
  ['a URL of a socket on a host', 'redis+unix://host/tmp/s', /redis\+unix:\/\/\//],
  ['the path of a socket', '/tmp/s?db=3', /not a valid URL.*redis\+unix:\/\/\//],
  ['a socket with a word that is none of ours', 'redis+unix:///tmp/s?dbase=3', /dbase/],
  ['a socket with a word as database', 'redis+unix:///tmp/s?db=abc', /db/],

  ['nodes that are none', { nodes: [] }, /at least one node/],
  ['nodes that are no array', { nodes: { host } }, /redis\.nodes/],
  ['nodes that are missing', { nodes: undefined }, /redis\.nodes/],
  ['a node that is undefined', { nodes: [undefined] }, /redis\.nodes\[0\]/],
  ['a second node that is null', { nodes: [...nodes, null] }, /redis\.nodes\[1\]/],
  ['a node with nothing in it', { nodes: [{}] }, /redis\.nodes\[0\]/],
  ['a node without a host', { nodes: [{ host: undefined, port: 7000 }] }, /redis\.nodes\[0\]\.host/],
  ['a node with a misspelt port', { nodes: [{ host, prot: 1 }] }, /redis\.nodes\[0\]\.prot.*port/],
  ['a node with port 0', { nodes: [{ host, port: 0 }] }, /redis\.nodes\[0\]\.port/, RangeError],
  ['a node that is port -1', { nodes: [-1] }, /redis\.nodes\[0\]/, RangeError],
  ['a node that is a Map', { nodes: [new Map()] }, /redis\.nodes\[0\].*Map/],
  ['a node that is a flag', { nodes: [true] }, /redis\.nodes\[0\]/],
  ['a node that is empty', { nodes: [''] }, /redis\.nodes\[0\]/],
  ['a node of another protocol', { nodes: ['http://h'] }, /redis\.nodes\[0\].*redis:\/\//],
  ['a node with a database in its URL', { nodes: ['redis://h:7000/3'] }, /redisOptions\.db/],
  ['a node with a database', { nodes: [{ host, db: 3 }] }, /redisOptions\.db/],
  ['a node with a word in its URL', { nodes: ['redis://h:7000?x=1'] }, /redis\.nodes\[0\].*x/],
  ['nodes with options beside', { nodes, redisOptions: {} }, /redis\.redisOptions.*nodes, options/],
  ['nodes with a password beside', { nodes, password: 's3cret' }, /redis\.password.*nodes, options/],
  ['nodes and sentinels', { nodes, sentinels, name: 'm' }, /redis\.sentinels/],
  ['options of nodes that are text', { nodes, options: 'x' }, /redis\.options/],
  ['options of nodes that are an array', { nodes, options: [] }, /redis\.options/],
  [
    'misspelt options of nodes',
    { nodes, options: { redisOption: {} } },
    /redis\.options\.redisOption.*redisOptions/,
  ],
  [
    'a password among the options of nodes',
    { nodes, options: { password: 's3cret' } },
    /redis\.options\.password/,
  ],
  ['no options of the servers', { nodes, options: { redisOptions: 'x' } }, /redis\.options\.redisOptions/],
  [
    'misspelt options of the servers',
    { nodes, options: { redisOptions: { pasword: 's3cret' } } },
    /redis\.options\.redisOptions\.pasword.*password/,
  ],

  ['sentinels that are none', { sentinels: [], name: 'm' }, /redis\.sentinels/],
  ['sentinels that are none beside a host', { sentinels: [], host }, /redis\.sentinels/],
  ['sentinels that are no array', { sentinels: { host }, name: 'm' }, /redis\.sentinels/],
  ['sentinels that are missing', { sentinels: undefined, name: 'm' }, /redis /],
  ['a sentinel that is undefined', { sentinels: [undefined], name: 'm' }, /redis\.sentinels\[0\]/],
  ['a sentinel that is text', { sentinels: ['h:26379'], name: 'm' }, /redis\.sentinels\[0\]/],
  ['a sentinel with nothing in it', { sentinels: [{}], name: 'm' }, /redis\.sentinels\[0\]/],
  [
    'a sentinel without a host',
    { sentinels: [{ host: undefined, port: 1 }], name: 'm' },
    /redis\.sentinels\[0\]\.host/,
  ],
  [
    'a sentinel with a misspelt host',
    { sentinels: [{ hots: host }], name: 'm' },
    /redis\.sentinels\[0\]\.hots.*host/,
  ],
  [
    'a sentinel with a password',
    { sentinels: [{ host, password: 's3cret' }], name: 'm' },
    /redis\.sentinels\[0\]\.password; known here: host, port/,
  ],
  [
    'a sentinel with port 70000',
    { sentinels: [{ host, port: 70_000 }], name: 'm' },
    /redis\.sentinels\[0\]\.port/,
    RangeError,
  ],
  ['sentinels without a name', { sentinels }, /redis\.name is missing/],
  ['sentinels with an empty name', { sentinels, name: '' }, /redis\.name is empty/],
]

describe('A redis option that is not understood', () => {
  expectHandledRejections()
  const { connect } = Socket.prototype
  let opened = 0

  beforeEach(() => {
    opened = 0
    Socket.prototype.connect = function (this: Socket, ...args: never[]) {
      opened++
      return (connect as (...all: never[]) => Socket).apply(this, args)
    } as typeof connect
  })
  afterEach(async () => {
    Socket.prototype.connect = connect
  })

  for (const [what, redis, reason, type = TypeError] of refused)
    it(`The redis option is refused before anything is opened: ${what}`, async () => {
      const error = await rejection(Redisson.create({ redis: redis as string }))
      expect(error.message).to.match(reason)
      expect(error).to.be.instanceOf(type)
      expect(inspect(error, { depth: 10 })).not.to.match(/s3cret|12345678/)
      expect(opened).to.equal(0)
    })

  it('The redis option is refused at once: an ioredis instance with an impossible database', async () => {
    const instance = new Redis({ host, db: Number.NaN, lazyConnect: true })
    const error = await rejection(Redisson.create({ redis: instance }))
    expect(error).to.be.instanceOf(RangeError)
    expect(error.message).to.match(/redis\.db/)
    expect(opened).to.equal(0)
    instance.disconnect()
  })
})
