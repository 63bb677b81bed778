const attempt = require('./attempts.cjs');

jest.retryTimes(2, { logErrorsBeforeRetry: true });

test('pass', () => {});

test('passes at third attempt', () => {
  const n = attempt('third');
  if (n < 3) throw new Error(`attempt ${n} of third`);
});

test('always fails', () => {
  throw new Error(`attempt ${attempt('always')} of always`);
});

test.skip('skip', () => {});
