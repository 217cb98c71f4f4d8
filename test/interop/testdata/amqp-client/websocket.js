'use strict';
// A client that is made for browsers: AMQP over WebSocket, from the URL in the second argument.
const { AMQPWebSocketClient } = require('@cloudamqp/amqp-client');

globalThis.WebSocket ??= require('ws'); // of Node.js itself only from version 22 on

const [, , , url] = process.argv;

/** Takes one message of a queue, waiting for it. */
async function take(channel, queue) {
  return new Promise((resolve) => {
    channel.basicConsume(queue, { noAck: false }, (message) => resolve(message));
  });
}

async function main() {
  const client = new AMQPWebSocketClient({ url, vhost: '/', username: 'guest', password: 'guest', name: 'page' });
  const connection = await client.connect();
  const channel = await connection.channel();
  const queue = await channel.queueDeclare('', { exclusive: true, durable: false });
  await channel.confirmSelect();
  const sent = new Uint8Array(1 << 20).map((_, i) => i % 251); // in many frames, and these in many reads
  const tag = await channel.basicPublish('', queue.name, sent, { contentType: 'application/octet-stream', headers: { n: 7 } });
  console.log('confirmed', tag);
  const message = await take(channel, queue.name);
  const got = message.body;
  console.log('got', got.length, got.every((octet, i) => octet === sent[i]), message.properties.contentType, message.properties.headers.n);
  await message.ack();
  try {
    await channel.queueDeclare('nowhere', { passive: true });
  } catch (error) {
    console.log(error.message);
  }
  await connection.close();
  const stranger = new AMQPWebSocketClient({ url, vhost: '/', username: 'guest', password: 'wrong' });
  await stranger.connect().then(() => console.log('let in'), () => console.log('refused'));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
