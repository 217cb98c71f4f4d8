'use strict';
// Tutorial 3, publish/subscribe: a fanout exchange copies each message to every subscriber's own queue.
const { connect, main, say, take } = require('./client');

main(async (exchange) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, 'fanout', { durable: false, autoDelete: true });
  const queues = [];
  for (let i = 0; i < 2; i++) {
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchange, '');
    queues.push(queue);
  }
  for (const body of ['first', 'second']) channel.publish(exchange, 'ignored', Buffer.from(body));
  for (const [i, queue] of queues.entries()) {
    for (const message of await take(channel, queue, 2)) say(`subscriber ${i + 1}: ${message.content}`);
  }
  await connection.close();
});
