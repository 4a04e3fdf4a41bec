'use strict'
// The gateway as its authors would write it: Express, node-postgres, an http.Agent for each service that it asks. Run with
// `--require @opentelemetry/auto-instrumentations-node/register`.
// LISTEN, POOLS (PORT), TOKEN (a file), DATABASE (a URL), CATALOGUE, CART, ORDERS, STOREFRONT (URLs) in the environment.
// GET /shop is a page: the session, an item, for some the cart, an order, or the storefront's page.

const http = require('node:http')
const express = require('express')
const { Pool } = require('pg')
const { pg, serve } = require(process.env.HANDLER)

const CART = 0.6
const ORDER = 0.3
const PAGE = 0.2
const VISITORS = 2000
const ITEMS = 5000

const { CATALOGUE, ORDERS, STOREFRONT } = process.env
const sessions = new Pool({ connectionString: process.env.DATABASE })
const agents = Object.fromEntries(['catalogue', 'cart', 'orders', 'storefront'].map((name) => [name, new http.Agent({ keepAlive: true })]))

/** The sockets of an agent, which has no limit by default. */
const sockets = (agent) => {
  const count = (lists) => Object.values(lists).reduce((sum, list) => sum + list.length, 0)
  const limit = () => (Number.isFinite(agent.maxSockets) ? agent.maxSockets : 0)
  return {
    sizes: () => [limit(), count(agent.sockets) + count(agent.freeSockets)],
    use: () => [count(agent.sockets), count(agent.requests)],
    resize: (size) => (agent.maxSockets = size),
  }
}

function ask(name, url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: agents[name] }, (response) => {
      response.resume()
      response.on('error', reject)
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`${name}: ${response.statusCode}`))))
    })
    request.on('error', reject)
  })
}

const any = (n) => 1 + Math.floor(Math.random() * n)
const app = express()
app.get('/shop', async (_request, response) => {
  const visitor = any(VISITORS)
  try {
    const { rows } = await sessions.query('SELECT visitor FROM sessions WHERE id = $1', [visitor])
    const item = ask('catalogue', `${CATALOGUE}/items/${any(ITEMS)}`)
    const cart = Math.random() < CART ? ask('cart', `${process.env.CART}/carts/${visitor}`) : undefined
    await Promise.all([item, cart])
    if (Math.random() < ORDER) await ask('orders', ORDERS)
    if (Math.random() < PAGE) await ask('storefront', STOREFRONT)
    response.send(rows[0].visitor)
  } catch (error) {
    response.status(502).send(error.message)
  }
})
app.get('/healthz', (_request, response) => response.send('up'))
app.listen(Number(process.env.LISTEN), '127.0.0.1')
serve('127.0.0.1', Number(process.env.POOLS), process.env.TOKEN, { connections: pg(sessions), catalogue: sockets(agents.catalogue) })
// OpenTelemetry's handler of this signal does not end the process.
process.on('SIGTERM', () => process.exit(0))
