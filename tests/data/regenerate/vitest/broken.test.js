import { test } from 'vitest';
import './a-module-that-does-not-exist.js';

test('never runs', () => {});
