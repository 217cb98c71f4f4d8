'use strict';
// A job for later: EXCHANGE QUEUE MILLISECONDS send, or receive. To send says so when the job is confirmed; to receive prints what came.
const { connect, main, say, take } = require('./client');

main(async (exchange, queue, delay, role) => {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange(exchange, 'x-delayed-message', { durable: true, arguments: { 'x-delayed-type': 'direct' } });
  await channel.assertQueue(queue, { durable: true });
  await channel.bindQueue(queue, exchange, 'job');
  if (role === 'send') {
    for (const [body, headers] of [['later', { 'x-delay': Number(delay) }], ['now', {}]]) {
      channel.publish(exchange, 'job', Buffer.from(body), { persistent: true, headers, mandatory: true });
    }
    await channel.waitForConfirms();
    say('confirmed');
  } else {
    say('ready');
    for (const message of await take(channel, queue, 2)) { // together: both may be there by now
      say(message.content.toString(), message.properties.headers['x-delay'] || 0, message.fields.redelivered ? 1 : 0);
    }
  }
  await connection.close();
});
