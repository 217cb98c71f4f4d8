'use strict';
// A mandatory message that no queue takes is returned, then confirmed.
const { connect, main, say } = require('./client');

main(async (key) => {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  let returned = 0;
  channel.on('return', ({ fields: f, properties: p, content }) => {
    returned++;
    say(f.replyCode, f.replyText, f.exchange, f.routingKey, p.messageId, content.toString());
  });
  channel.publish('amq.direct', key, Buffer.from('come back'), { mandatory: true, messageId: 'm-1' });
  await channel.waitForConfirms();
  if (returned !== 1) say('confirmed before it was returned');
  await channel.assertQueue(key, { exclusive: true });
  await channel.bindQueue(key, 'amq.direct', key);
  channel.publish('amq.direct', key, Buffer.from('stay'), { mandatory: true });
  await channel.waitForConfirms();
  if (returned === 1) say('routed');
  await connection.close();
});
