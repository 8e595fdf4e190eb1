// Six mathematical functions, of six numbers each: the least possible work for each kernel.
func.func @math(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %exp = math.exp %a : tensor<6xf32>
  %log = math.log %a : tensor<6xf32>
  %tanh = math.tanh %a : tensor<6xf32>
  %sqrt = math.sqrt %a : tensor<6xf32>
  %sin = math.sin %a : tensor<6xf32>
  %pow = math.powf %a, %sqrt : tensor<6xf32>
  return %exp, %log, %tanh, %sqrt, %sin, %pow : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
