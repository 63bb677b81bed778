const reporters = require('jasmine-reporters');

jasmine.getEnv().addReporter(new reporters.JUnitXmlReporter({ savePath: '.', consolidateAll: true, filePrefix: 'report' }));

describe('sums', () => {
  it('pass', () => expect(1 + 1).toBe(2));

  it('fail', () => expect(1 + 1).toBe(3));

  it('several failures', () => {
    expect(1).toBe(2);
    expect(3).toBe(4);
  });

  it('throws', () => {
    throw new TypeError('boom <b> & ]]> \u001b[31mred');
  });

  xit('skip', () => {});
  it('pending', () => pending('not today'));
  it('no body');
  it('no expectations', () => {});

  describe('inner', () => {
    it('pass ü✓🧪', () => expect(true).toBe(true));
  });
});

describe('broken before', () => {
  beforeAll(() => {
    throw new Error('no database');
  });
  it('first', () => {});
});
