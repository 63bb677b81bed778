const assert = require('assert');

it('top level pass', () => {});

describe('sums', () => {
  it('pass', () => assert.strictEqual(1 + 1, 2));

  it('fail', () => assert.deepStrictEqual({ a: [1, 2] }, { a: [1, 3] }));

  it('throws', () => {
    throw new TypeError('boom <b> & ]]> \u001b[31mred');
  });

  it.skip('skip', () => {});
  it('pending');

  it('skips inside', function () {
    this.skip();
  });

  it('says done twice', (done) => {
    done();
    done(new Error('done again'));
  });

  it('times out', function (done) {
    this.timeout(50);
  });

  describe('inner', () => {
    it('pass', () => {});
  });
});

describe('broken before', () => {
  before(() => {
    throw new Error('no database');
  });
  it('first', () => {});
  it('second', () => {});
});

describe('broken after each', () => {
  afterEach(() => {
    throw new Error('cannot clean up');
  });
  it('passes, then the hook fails', () => {});
  it('is never tried', () => {});
});
