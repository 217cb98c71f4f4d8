'use strict';
// Tutorial 1, hello: receives one message and prints it with its properties.
const { connect, main, say, take } = require('./client');

/** JSON with the keys of every object in order, so that the programs of all clients print the same. */
function canonical(value) {
  return JSON.stringify(value, (_, v) => (v && typeof v === 'object' && !Array.isArray(v)
    ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
    : v));
}

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false });
  const [{ content, properties: p }] = await take(channel, queue, 1);
  say(content.toString());
  say(p.contentType, p.deliveryMode, p.priority, p.correlationId, p.messageId, p.timestamp, p.type);
  say(canonical(p.headers));
  await connection.close();
});
