// The larger of two bids, and who made it.
module auction(input [7:0] alice, input [7:0] bob, output [7:0] price, output winner);
    assign winner = bob > alice;
    assign price = winner ? bob : alice;
endmodule
