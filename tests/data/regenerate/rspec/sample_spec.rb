RSpec.describe 'sums' do
  it('pass') { expect(1 + 1).to eq(2) }
  it('fail') { expect('a' => [1, 2]).to eq('a' => [1, 3]) }
  it('error') { raise ArgumentError, "boom <b> & ]]> \e[31mred" }

  it 'several failures', :aggregate_failures do
    expect(1).to eq(2)
    expect(3).to eq(4)
  end

  xit('skip') { raise 'never runs' }
  it 'without a body'
  it('skips inside') { skip 'not here' }

  it 'pending and failing' do
    pending 'known bug'
    expect(1).to eq(2)
  end

  it 'pending but passing' do
    pending 'known bug'
    expect(1).to eq(1)
  end

  it { expect(1).to eq(1) }
  it { expect(2).to eq(2) }

  context 'inner ü✓🧪' do
    it('pass') { puts 'printed' }
  end

  2.times { it('twin') { expect(true).to be true } }
end

RSpec.describe 'broken before' do
  before(:all) { raise 'no database' }
  it('first') {}
  it('second') {}
end

RSpec.describe 'broken after' do
  after { raise 'cannot clean up' }
  it('fails, then the hook fails') { expect(1).to eq(2) }
end
