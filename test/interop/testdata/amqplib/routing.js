'use strict';
// Tutorial 4, routing: a direct exchange, one subscriber for errors alone and one for three severities.
const { connect, main, say, take } = require('./client');

main(async (exchange) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, 'direct', { durable: false, autoDelete: true });
  const { queue: disk } = await channel.assertQueue('', { exclusive: true });
  const { queue: screen } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(disk, exchange, 'error');
  for (const severity of ['info', 'warning', 'error']) await channel.bindQueue(screen, exchange, severity);
  for (const severity of ['info', 'error', 'debug', 'warning']) channel.publish(exchange, severity, Buffer.from(`${severity} message`));
  for (const [name, queue, count] of [['disk', disk, 1], ['screen', screen, 3]]) {
    for (const message of await take(channel, queue, count)) say(`${name}: ${message.fields.routingKey}: ${message.content}`);
  }
  await connection.close();
});
