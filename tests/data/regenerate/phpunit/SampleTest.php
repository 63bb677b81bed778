<?php

use PHPUnit\Framework\TestCase;

final class SampleTest extends TestCase
{
    public function testPass(): void
    {
        $this->assertSame(2, 1 + 1);
    }

    public function testFail(): void
    {
        print 'printed before the failure';
        $this->assertSame(['a' => [1, 2]], ['a' => [1, 3]], 'message with <b> & ]]>');
    }

    public function testError(): void
    {
        throw new RuntimeException("boom \x1b[31mred");
    }

    public function testWarning(): void
    {
        $this->assertSame(1, $undefined);
    }

    public function testSkip(): void
    {
        $this->markTestSkipped('not today');
    }

    public function testIncomplete(): void
    {
        $this->markTestIncomplete('later');
    }

    public function testRisky(): void
    {
    }

    /** @depends testFail */
    public function testDepends(): void
    {
        $this->assertTrue(true);
    }

    /** @dataProvider words */
    public function testData(string $word): void
    {
        $this->assertStringNotContainsString(' ', $word);
    }

    public function words(): array
    {
        return ['named "one"' => ['one'], 'ü✓🧪' => ['two words'], ['three']];
    }
}
