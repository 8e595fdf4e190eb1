// Two layers of 128 numbers over eight rows.
func.func @classify(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %w1 = arith.constant dense<0.01> : tensor<128x128xf32>
  %w2 = arith.constant dense<0.02> : tensor<128x128xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x128xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x128xf32>) -> tensor<8x128xf32>
  %0 = linalg.matmul ins(%x, %w1 : tensor<8x128xf32>, tensor<128x128xf32>) outs(%zeros : tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = math.tanh %0 : tensor<8x128xf32>
  %2 = linalg.matmul ins(%1, %w2 : tensor<8x128xf32>, tensor<128x128xf32>) outs(%zeros : tensor<8x128xf32>) -> tensor<8x128xf32>
  return %2 : tensor<8x128xf32>
}
