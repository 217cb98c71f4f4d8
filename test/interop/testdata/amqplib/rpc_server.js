'use strict';
// Tutorial 6, RPC: the server. It answers until it is killed.
const { connect, main, say } = require('./client');

const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false });
  await channel.prefetch(1);
  await channel.consume(queue, (message) => {
    const { replyTo, correlationId } = message.properties;
    channel.sendToQueue(replyTo, Buffer.from(String(fib(Number(message.content)))), { correlationId });
    channel.ack(message);
  });
  say('ready');
});
