// Writes a table with RocksDB as npm has it: MODULES DATABASE KEYS rocksdb-native VERSION, or MODULES DATABASE KEYS rocksdb-js.
const [modules, database, keys, writer, version] = process.argv.slice(1)

const key = (i) => Buffer.from('key' + String(2 * i).padStart(6, '0'))

async function native() {
  const RocksDB = require(modules + '/rocksdb-native')
  const db = new RocksDB(database, { tableFormatVersion: +version, filterPolicy: new RocksDB.BloomFilterPolicy(10) })
  await db.ready()
  const batch = db.write()
  for (let i = 0; i < keys; i++) batch.put(key(i), 'value')
  await batch.flush()
  await db.flush()
  await db.close()
}

function js() {
  const { Database } = require(modules + '/@harperfast/rocksdb-js-linux-x64-glibc/rocksdb-js.node')
  const db = new Database()
  db.open(database, { name: 'default' })
  for (let i = 0; i < keys; i++) db.putSync(key(i), Buffer.from('value'), undefined)
  db.flushSync()
  db.close()
}

Promise.resolve(writer === 'rocksdb-js' ? js() : native()).catch((e) => {
  console.error(e)
  process.exit(1)
})
