// A hierarchy: a parity of parities, with a signal of descending and one of ascending range.
module half(input [3:0] bits, output odd);
    assign odd = ^bits;
endmodule

module parity(input [7:0] low, input [0:3] high, output [1:0] odd, output all);
    half first(.bits(low[3:0]), .odd(odd[0]));
    half second(.bits(low[7:4]), .odd(odd[1]));
    wire top;
    half third(.bits(high), .odd(top));
    assign all = odd[0] ^ odd[1] ^ top ^ high[0];
endmodule
