'use strict';
// Tutorial 5, topics: patterns with * and #; a queue that matches twice gets one copy.
const { connect, main, say, take } = require('./client');

const patterns = { all: ['#'], kern: ['kern.*'], critical: ['*.critical'], both: ['kern.*', '*.critical'] };

main(async (exchange) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, 'topic', { durable: false, autoDelete: true });
  const queues = {};
  for (const [name, keys] of Object.entries(patterns)) {
    queues[name] = (await channel.assertQueue('', { exclusive: true })).queue;
    for (const key of keys) await channel.bindQueue(queues[name], exchange, key);
  }
  for (const key of ['kern.critical', 'kern.info', 'cron.critical', 'cron.info', 'kern.critical.more']) channel.publish(exchange, key, Buffer.from(key));
  for (const [name, count] of [['all', 5], ['kern', 2], ['critical', 2], ['both', 3]]) {
    say(`${name}:`, (await take(channel, queues[name], count)).map((message) => message.content.toString()).join(' '));
  }
  await connection.close();
});
