// One step of the Fibonacci sequence in each clock cycle, from `start` and one, with a registered parity that can be held.
module fibonacci(input clk, input hold, input [7:0] start, output [7:0] value, output odd);
    reg [7:0] a = 8'h00, b = 8'h01;
    reg even = 1'b1;
    always @(posedge clk) begin
        a <= b;
        b <= a + b;
        if (!hold) even <= !(b[0]);
    end
    assign value = a + start;
    assign odd = !even;
endmodule
