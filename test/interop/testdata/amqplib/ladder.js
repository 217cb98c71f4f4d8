'use strict';
// A job that always fails: QUEUE ATTEMPTS WAIT. It is tried again after WAIT ms, and is put aside after so many attempts.
const { connect, deferred, main, say, take } = require('./client');

main(async (queue, most, milliseconds) => {
  const attempts = Number(most);
  const wait = Number(milliseconds);
  const dead = `${queue}.dead`;
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false, deadLetterExchange: '', deadLetterRoutingKey: `${queue}.wait` });
  await channel.assertQueue(`${queue}.wait`, {
    durable: false, messageTtl: wait, deadLetterExchange: '', deadLetterRoutingKey: queue,
  });
  await channel.assertQueue(dead, { durable: false });

  // How often a message died in a queue for a reason.
  const deaths = (message, where, reason) => (message.properties.headers['x-death'] || [])
    .filter((death) => death.queue === where && death.reason === reason)
    .reduce((sum, death) => sum + death.count, 0);
  const { promise: over, resolve } = deferred();
  const work = (message) => {
    if (message.content.toString() === 'good') {
      say('good done');
      channel.ack(message);
      return;
    }
    const attempt = deaths(message, queue, 'rejected') + 1;
    say('attempt', attempt, message.fields.redelivered ? 1 : 0);
    if (attempt < attempts) {
      channel.reject(message, false);
      return;
    }
    channel.sendToQueue(dead, message.content, { headers: message.properties.headers });
    channel.ack(message);
    resolve();
  };

  const began = performance.now();
  channel.sendToQueue(queue, Buffer.from('bad'));
  channel.sendToQueue(queue, Buffer.from('good'));
  await channel.consume(queue, work);
  await over;
  say(performance.now() - began >= (attempts - 1) * wait ? 'waited' : 'too early');
  const [message] = await take(channel, dead, 1);
  say(message.content.toString(), 'rejected', deaths(message, queue, 'rejected'), 'expired', deaths(message, `${queue}.wait`, 'expired'));
  const { headers } = message.properties;
  say(headers['x-first-death-reason'], headers['x-last-death-reason']);
  for (const name of [`${queue}.wait`, dead]) await channel.deleteQueue(name);
  await connection.close();
});
