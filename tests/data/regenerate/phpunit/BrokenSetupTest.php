<?php

use PHPUnit\Framework\TestCase;

final class BrokenSetupTest extends TestCase
{
    public static function setUpBeforeClass(): void
    {
        throw new RuntimeException('no database');
    }

    public function testFirst(): void
    {
        $this->assertTrue(true);
    }

    public function testSecond(): void
    {
        $this->assertTrue(true);
    }
}
