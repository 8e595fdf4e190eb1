// The small encoder: how often which tokens are in a text decides its vector, not their order.
//
//   vector(text) = sum over its tokens of scale[token] * table[token]
//
// The table comes from EncoderTrainer, as parameters of scope 'encoder'. Numbers that the table does not have are taken for token 1, [UNK].
#texts = affine_map<(text, dimension, token) -> (text, token)>
#vectors = affine_map<(text, dimension, token) -> (text, dimension)>

// One executable for each kind of machine; where none of these runs, or no native code may, bytecode does.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {
  cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
  native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64", {
  cpu = "generic", cpu_features = "+reserve-x18", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
  native_vector_size = 16 : i64, target_triple = "aarch64-unknown-unknown-eabi-elf"}>
#bytecode = #hal.executable.target<"vmvx", "vmvx-bytecode-fb">

module attributes {hal.device.targets = [#hal.device.target<"local", [#x86_64, #arm_64, #bytecode]> : !hal.device]} {
  util.global private @table = #flow.parameter.named<"encoder"::"table"> : tensor<4096x128xi8>
  util.global private @scale = #flow.parameter.named<"encoder"::"scale"> : tensor<4096xf32>

  func.func @encode(%input_ids: tensor<?x?xi64>, %attention_mask: tensor<?x?xi64>) -> tensor<?x128xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %table = util.global.load @table : tensor<4096x128xi8>
    %scale = util.global.load @scale : tensor<4096xf32>
    %texts = tensor.dim %input_ids, %c0 : tensor<?x?xi64>
    %empty = tensor.empty(%texts) : tensor<?x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x128xf32>) -> tensor<?x128xf32>
    %vectors = linalg.generic {indexing_maps = [#texts, #texts, #vectors], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%input_ids, %attention_mask : tensor<?x?xi64>, tensor<?x?xi64>) outs(%zeros : tensor<?x128xf32>) {
    ^bb0(%id: i64, %mask: i64, %sum: f32):
      %unknown = arith.constant 1 : i64
      %size = arith.constant 4096 : i64
      %is_known = arith.cmpi ult, %id, %size : i64
      %known = arith.select %is_known, %id, %unknown : i64
      %token = arith.index_cast %known : i64 to index
      %dimension = linalg.index 1 : index
      %entry = tensor.extract %table[%token, %dimension] : tensor<4096x128xi8>
      %factor = tensor.extract %scale[%token] : tensor<4096xf32>
      %value = arith.sitofp %entry : i8 to f32
      %scaled = arith.mulf %value, %factor : f32
      %counts = arith.sitofp %mask : i64 to f32
      %counted = arith.mulf %scaled, %counts : f32
      %next = arith.addf %sum, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?x128xf32>
    return %vectors : tensor<?x128xf32>
  }
}
