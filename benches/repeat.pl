#!/usr/bin/env perl
# Writes a perf.data with the records of another one several times over: repeat.pl IN TIMES OUT
#
# In each repetition the innermost address of every call chain is one byte further, so that distinct
# chains grow with the file as they do in a longer recording, and the functions stay what they were.
use strict;
use warnings;

my ($from, $times, $to) = @ARGV;
die "usage: repeat.pl IN TIMES OUT\n" unless defined $to && $times =~ /^[1-9]\d*$/;
open my $in, '<:raw', $from or die "$from: $!\n";
my $file = do { local $/ = undef; <$in> };
my ($magic, undef, undef, $attrs, undef, $start, $size) = unpack 'a8 Q6', $file;
die "$from: no perf.data file of this byte order\n" unless $magic eq 'PERFILE2';

# Fields of a sample before its call chain, by their bits in sample_type (linux/perf_event.h).
my $type = unpack 'Q', substr $file, $attrs + 24, 8;
die "$from: samples without call chains, or with values read\n" unless $type & 1 << 5 && !($type & 1 << 4);
my $chain = 8 + 8 * grep { $type & 1 << $_ } 0, 1, 2, 3, 6, 7, 8, 9, 16;

my @leaves;
for (my $at = $start; $at < $start + $size;) {
    my ($kind, undef, $length) = unpack 'L S S', substr $file, $at, 8;
    die "$from: a damaged record at byte $at\n" if $length < 8;
    # Samples are of kind 9; a chain is its length, a context mark and the innermost address.
    push @leaves, $at - $start + $chain + 16
        if $kind == 9 && unpack('Q', substr $file, $at + $chain, 8) >= 2;
    $at += $length;
}

open my $out, '>:raw', $to or die "$to: $!\n";
my $head = substr $file, 0, $start;
substr $head, 48, 8, pack 'Q', $size * $times;
print {$out} $head;
my $data = substr $file, $start, $size;
for (1 .. $times) {
    print {$out} $data or die "$to: $!\n";
    substr $data, $_, 8, pack 'Q', 1 + unpack 'Q', substr $data, $_, 8 for @leaves;
}
# Descriptions of the host follow the records: a table of their places, then their texts.
my $rest = substr $file, $start + $size;
my $count = unpack '%32b*', substr $file, 72, 32;
for my $row (0 .. $count - 1) {
    my $place = unpack 'Q', substr $rest, $row * 16, 8;
    substr $rest, $row * 16, 8, pack 'Q', $place + $size * ($times - 1);
}
print {$out} $rest;
close $out or die "$to: $!\n";
