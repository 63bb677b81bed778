Deno.test('pass', () => {});

Deno.test('fail', () => {
  throw new Error('message with <b> & ]]> \u001b[31mred');
});

Deno.test('skip', { ignore: true }, () => {});

Deno.test('leaks a timer', () => {
  setTimeout(() => {}, 10000);
});

Deno.test('steps', async (t) => {
  await t.step('inner pass', () => {});
  await t.step('inner fail', () => {
    throw new Error('inner');
  });
});

Deno.test('name with ü✓🧪', () => {});
