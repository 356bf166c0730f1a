# perl: hashes, expressions, sorting, closures, local processes and pipes.
use strict;
use warnings;
use Time::Local;
$ENV{PERL_HASH_SEED} = 0;
$| = 1;
my $seed = 42;
sub dice { $seed = ($seed * 1103515245 + 12345) % 2147483648; return $seed % $_[0] }
my %count;
for (1 .. 40000) {
    my $word = join '', map { chr(97 + dice(26)) } 1 .. 2 + dice(3);
    $count{$word}{total}++;
    push @{ $count{$word}{at} }, $_ if $_ % 7 == 0;
}
my @top = sort { $count{$b}{total} <=> $count{$a}{total} || $a cmp $b } keys %count;
printf "%s %d %s\n", $_, $count{$_}{total}, join ',', @{ $count{$_}{at} || [] } for @top[0 .. 19];
my $text = join ' ', @top;
my $found = () = $text =~ /\b(\w)(\w)\2\1\b/g;
(my $other = $text) =~ s/(\w)(\w+)/$2$1/g;
print "$found ", unpack('%32C*', $other), "\n";
for my $n (1 .. 20) {
    pipe my $read, my $write or die;
    my $pid = fork // die;
    if (!$pid) {
        close $read;
        my %own = map { $_ => $_ ** 2 } 1 .. 500 * $n;
        print $write scalar(keys %own), "\n";
        close $write;
        exit $n;
    }
    close $write;
    my $line = <$read>;
    waitpid $pid, 0;
    print 'child ', $? >> 8, " $line";
}
print `echo from a shell; exit 3`, $? >> 8, "\n";
local $SIG{ALRM} = sub { die "alarm\n" };
eval { alarm 1; select undef, undef, undef, 30; };
print $@;
eval { die { code => 7 } };
print "code $@->{code}\n";
print timegm(0, 0, 0, 1, 0, 100), "\n";
if ($ENV{ALLOCATOR}) {
    open my $maps, '<', '/proc/self/maps' or die;
    my %library = map { m{/(lib(?:je|tc|mi)malloc[a-z_]*)} ? ($1 => 1) : () } <$maps>;
    print join(' ', sort keys %library), "\n";
}
warn "to standard error\n";
exit 5;
