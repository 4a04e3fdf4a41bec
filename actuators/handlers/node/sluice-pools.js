'use strict'
// Lets an actuator read and set the size of a running Node program's pools: GET and PUT /NAME.
//
//   serve('127.0.0.1', 8099, '/run/secrets/pools', { rows: pg(new Pool()) })

const crypto = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')

const LARGEST = 65535
const LONGEST_BODY = 1024
const SHORTEST_TOKEN = 16

/** node-postgres' pool (pg 8): idle connections beyond the size are closed at once, those in use as they come back. */
function pg(pool) {
  const spare = () => pool.totalCount - pool.options.max
  pool.on('release', (_, client) => {
    if (spare() > 0) pool._expired.add(client) // closed when it comes back, as one of maxLifetimeSeconds is
  })
  return {
    sizes: () => [pool.options.max, pool.totalCount],
    use: () => [pool.totalCount - pool.idleCount, pool.waitingCount],
    resize(limit) {
      pool.options.max = limit
      for (const { client } of [...pool._idle]) if (spare() > 0) pool._remove(client)
      for (let free = -spare(); free > 0; free--) pool._pulseQueue() // who waits gets what there is now
    },
  }
}

/** Serves `handler`, and returns the server. It keeps no program from its end. Throws as `handler`. */
function serve(host, port, tokenFile, pools) {
  return http.createServer(handler(tokenFile, pools)).listen(port, host).unref()
}

/**
 * A listener of requests, to mount in a server of the program. Answers who sends the token that tokenFile has now, of 16
 * characters or more; throws where it has none such. `pools` has by name what can be resized:
 * sizes() gives the limit, 0 for none, and how many connections there are; resize(limit) sets it. use(), where there is one,
 * gives how many are in use, and how many callers wait for one; undefined: it is not known.
 */
function handler(tokenFile, pools) {
  readToken(tokenFile)
  return (request, response) => {
    const answer = (status, fields) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(fields))
    }
    const wrong = refusal(tokenFile, request.headers.authorization ?? '')
    if (wrong) return answer(401, { error: wrong })
    const name = request.url.split('?', 1)[0].replace(/^\/+/, '') // URL would throw for //, and end the program
    if (!Object.hasOwn(pools, name)) return answer(404, { error: 'no such pool' })
    const show = () => {
      const [size, open] = pools[name].sizes()
      const [busy, waiting] = pools[name].use?.() ?? []
      answer(200, { size, open, busy, waiting }) // what is undefined is left out
    }
    if (request.method === 'GET') return show()
    if (request.method !== 'PUT') return answer(405, { error: 'want GET or PUT' })
    let body = ''
    request.on('data', (part) => {
      if (body.length <= LONGEST_BODY) body += part
    })
    request.on('end', () => {
      const size = sizeIn(body)
      if (!size) return answer(400, { error: `size: want 1 to ${LARGEST}` })
      pools[name].resize(size)
      show()
    })
  }
}

/**
 * Whether an actuator asks, which is no load of the program: of it no span is made with
 * new HttpInstrumentation({ ignoreIncomingRequestHook: fromSluice }).
 */
function fromSluice(request) {
  return request.headers['sluice-request'] !== undefined
}

function readToken(tokenFile) {
  let token
  try {
    token = fs.readFileSync(tokenFile, 'utf8').trim()
  } catch (error) {
    throw new Error(`token_file: ${error.code}`, { cause: error })
  }
  if (token.length < SHORTEST_TOKEN) {
    throw new RangeError(`token_file: want ${SHORTEST_TOKEN} characters or more, got ${token.length}`)
  }
  return token
}

/** Why a request is refused; '' for the bearer of the token. */
function refusal(tokenFile, authorization) {
  let token
  try {
    token = readToken(tokenFile)
  } catch (error) {
    return error.message
  }
  const digest = (text) => crypto.createHash('sha256').update(text).digest()
  if (crypto.timingSafeEqual(digest(authorization), digest(`Bearer ${token}`))) return ''
  return "want Authorization: Bearer TOKEN, with the token of this program's token_file"
}

/** 0 where the body has none that is legal. */
function sizeIn(body) {
  try {
    const { size } = JSON.parse(body)
    return body.length <= LONGEST_BODY && Number.isInteger(size) && size >= 1 && size <= LARGEST ? size : 0
  } catch {
    return 0
  }
}

module.exports = { fromSluice, handler, pg, serve }
