import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import calculateSlot from 'cluster-key-slot'
import type { Address, ClusterSetup } from './servers/index'
import { RespFrames, wordsOf } from './servers/resp-frames'

const CROSS_SLOT = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"

export interface ClusterProxy extends Address {
  /** How many commands it refused because their keys are in several slots. */
  readonly refused: number
  stop(): void
}

/**
 * Makes a cluster look like a single server, as Redis Enterprise and Envoy do: it sends each command to the node of its keys, and
 * refuses a command whose keys are in several slots. It knows RESP2 only, and says that its mode is "standalone".
 */
export async function startClusterProxy(cluster: ClusterSetup): Promise<ClusterProxy> {
  const clients = new Set<Socket>()
  const owners = new Map<number, Promise<Address>>()
  const ownerOf = (slot: number) => {
    let owner = owners.get(slot)
    if (!owner) {
      owner = cluster.ownerOf(slot)
      owners.set(slot, owner)
    }
    return owner
  }
  let refused = 0
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client)
    const nodes = new Map<Address, (bytes: Buffer) => Promise<Buffer>>()
    const commands = new RespFrames()
    let last: Promise<unknown> = Promise.resolve()
    const to = (node: Address) => {
      let send = nodes.get(node)
      if (!send) {
        send = openNode(node, client)
        nodes.set(node, send)
      }
      return send
    }
    client.on('error', () => {})
    client.on('data', (chunk) => {
      for (const frame of commands.push(chunk)) {
        const answer = answerTo(frame, cluster, ownerOf, to)
        if (answer === CROSS_SLOT) refused++
        // Answers leave in the order of the commands.
        last = last.then(async () => client.write(await answer))
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    host: '127.0.0.1',
    port,
    get refused() {
      return refused
    },
    stop() {
      server.close()
      for (const client of clients) client.destroy()
    },
  }
}

function answerTo(
  frame: Buffer,
  cluster: ClusterSetup,
  ownerOf: (slot: number) => Promise<Address>,
  to: (node: Address) => (bytes: Buffer) => Promise<Buffer>,
): string | Promise<Buffer | string> {
  const [name = '', ...words] = wordsOf(frame)
  const [first] = cluster.nodes
  if (/^hello$/i.test(name)) return "-ERR unknown command 'HELLO'\r\n"
  if (/^info$/i.test(name))
    return to(first!)(frame).then((reply) => {
      const text = reply.toString().replace('redis_mode:cluster', 'redis_mode:standalone')
      const body = text.slice(text.indexOf('\r\n') + 2, -2)
      return `$${Buffer.byteLength(body)}\r\n${body}\r\n`
    })
  if (!/^eval(sha)?$/i.test(name)) return to(first!)(frame)
  const keys = words.slice(2, 2 + Number(words[1]))
  if (keys.length === 0) return to(first!)(frame)
  if (new Set(keys.map((key) => calculateSlot(key))).size > 1) return CROSS_SLOT
  return ownerOf(calculateSlot(keys[0]!)).then((node) => to(node)(frame))
}

/** A connection to a node for one client. What the node sends without a command, such as a message, goes to the client. */
function openNode(node: Address, client: Socket): (bytes: Buffer) => Promise<Buffer> {
  const socket = connect(node.port, node.host)
  const replies = new RespFrames()
  const waiting: ((reply: Buffer) => void)[] = []
  socket.on('error', () => client.destroy())
  client.on('close', () => socket.destroy())
  socket.on('data', (chunk) => {
    for (const frame of replies.push(chunk)) {
      const [kind] = frame[0] === '*'.charCodeAt(0) ? wordsOf(frame) : []
      if (kind === 'message' || waiting.length === 0) client.write(frame)
      else waiting.shift()!(frame)
    }
  })
  return (bytes) =>
    new Promise((resolve) => {
      waiting.push(resolve)
      socket.write(bytes)
    })
}
