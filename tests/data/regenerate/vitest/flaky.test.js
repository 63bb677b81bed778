import { expect, test } from 'vitest';
import attempt from './attempts.cjs';

test('pass', () => {});

test('passes at third attempt', () => {
  const n = attempt('third');
  expect(n, `attempt ${n} of third`).toBeGreaterThan(2);
});

test('always fails', () => {
  throw new Error(`attempt ${attempt('always')} of always`);
});

test('passes at second of three repeats', { repeats: 2, retry: 0 }, () => {
  const n = attempt('repeats');
  expect(n, `repeat ${n}`).toBe(2);
});

test.skip('skip', () => {});
