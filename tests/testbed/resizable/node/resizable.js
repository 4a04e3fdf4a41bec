'use strict'
// A Node program under load on PostgreSQL, with a pool of pg's that the actuator can resize.
// Arguments: PORT TOKEN-FILE DATABASE-PORT; CONNECTIONS and CLIENTS in the environment.

const path = require('node:path')
const { Pool } = require('pg')
const { pg, serve } = require(path.join(__dirname, '../../../../actuators/handlers/node/sluice-pools.js'))

const [port, tokenFile, database] = process.argv.slice(2)
const pool = new Pool({
  host: '127.0.0.1',
  port: Number(database),
  user: 'sluice',
  database: 'postgres',
  application_name: 'resizable-node',
  max: Number(process.env.CONNECTIONS),
})

async function ask() {
  for (;;) await pool.query('SELECT pg_sleep(0.02)')
}

for (let i = 0; i < Number(process.env.CLIENTS); i++) ask()
serve('127.0.0.1', Number(port), tokenFile, { rows: pg(pool) })
