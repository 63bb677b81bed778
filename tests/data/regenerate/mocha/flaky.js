const attempt = require('./attempts.cjs');

describe('flaky', function () {
  this.retries(2);

  it('pass', () => {});

  it('passes at third attempt', () => {
    const n = attempt('third');
    if (n < 3) throw new Error(`attempt ${n} of third`);
  });

  it('always fails', () => {
    throw new Error(`attempt ${attempt('always')} of always`);
  });

  it.skip('skip', () => {});
});
