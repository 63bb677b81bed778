const assert = require('assert');
const { Given } = require('@cucumber/cucumber');
const attempt = require('./attempts.cjs');

Given('a step that passes', () => {});
Given('a step fails', () => assert.strictEqual(1 + 1, 3, 'message with <b> & ]]>'));
Given('a pending step', () => 'pending');
Given('a skipped step', () => 'skipped');
Given('the number {int}', (number) => assert.strictEqual(number, 1));
Given('attempt {int} of {string}', (needed, name) => {
  const n = attempt(name);
  assert.ok(n >= needed, `attempt ${n} of ${name}`);
});
