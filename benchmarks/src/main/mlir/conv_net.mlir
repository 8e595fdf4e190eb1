// A small convolutional network: three convolutions, a pointwise one, the mean of each channel, a dense layer; 120 million
// operations. Weights are constants of a single value each: the measurement does not depend on weights.
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (n, c)>
func.func @classify(%x0: tensor<1x66x66x16xf32>) -> tensor<1x10xf32> {
  %zero = arith.constant 0.0 : f32
  %w1 = util.unfoldable_constant dense<0.5000> : tensor<3x3x16x32xf32>
  %e1 = tensor.empty() : tensor<1x64x64x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x64x32xf32>) -> tensor<1x64x64x32xf32>
  %c1 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x0, %w1 : tensor<1x66x66x16xf32>, tensor<3x3x16x32xf32>) outs(%f1 : tensor<1x64x64x32xf32>) -> tensor<1x64x64x32xf32>
  %x1 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c1 : tensor<1x64x64x32xf32>) outs(%e1 : tensor<1x64x64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x64x64x32xf32>
  %w2 = util.unfoldable_constant dense<0.2500> : tensor<3x3x32x64xf32>
  %e2 = tensor.empty() : tensor<1x31x31x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x31x31x64xf32>) -> tensor<1x31x31x64xf32>
  %c2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x1, %w2 : tensor<1x64x64x32xf32>, tensor<3x3x32x64xf32>) outs(%f2 : tensor<1x31x31x64xf32>) -> tensor<1x31x31x64xf32>
  %x2 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c2 : tensor<1x31x31x64xf32>) outs(%e2 : tensor<1x31x31x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x31x31x64xf32>
  %w3 = util.unfoldable_constant dense<0.1667> : tensor<3x3x64x128xf32>
  %e3 = tensor.empty() : tensor<1x15x15x128xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x15x15x128xf32>) -> tensor<1x15x15x128xf32>
  %c3 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x2, %w3 : tensor<1x31x31x64xf32>, tensor<3x3x64x128xf32>) outs(%f3 : tensor<1x15x15x128xf32>) -> tensor<1x15x15x128xf32>
  %x3 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c3 : tensor<1x15x15x128xf32>) outs(%e3 : tensor<1x15x15x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x15x15x128xf32>
  %w4 = util.unfoldable_constant dense<0.1250> : tensor<1x1x128x256xf32>
  %e4 = tensor.empty() : tensor<1x15x15x256xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x15x15x256xf32>) -> tensor<1x15x15x256xf32>
  %c4 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x3, %w4 : tensor<1x15x15x128xf32>, tensor<1x1x128x256xf32>) outs(%f4 : tensor<1x15x15x256xf32>) -> tensor<1x15x15x256xf32>
  %x4 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c4 : tensor<1x15x15x256xf32>) outs(%e4 : tensor<1x15x15x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x15x15x256xf32>
  %pe = tensor.empty() : tensor<1x256xf32>
  %pf = linalg.fill ins(%zero : f32) outs(%pe : tensor<1x256xf32>) -> tensor<1x256xf32>
  %p = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%x4 : tensor<1x15x15x256xf32>) outs(%pf : tensor<1x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<1x256xf32>
  %wd = util.unfoldable_constant dense<0.01> : tensor<256x10xf32>
  %de = tensor.empty() : tensor<1x10xf32>
  %df = linalg.fill ins(%zero : f32) outs(%de : tensor<1x10xf32>) -> tensor<1x10xf32>
  %d = linalg.matmul ins(%p, %wd : tensor<1x256xf32>, tensor<256x10xf32>) outs(%df : tensor<1x10xf32>) -> tensor<1x10xf32>
  return %d : tensor<1x10xf32>
}
