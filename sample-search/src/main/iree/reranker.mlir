// The small reranker: how relevant a text is for a query, from 0 to 1, of the tokens of both, over the table of the small encoder.
//
//   vector(token) = scale[token] * table[token]          weight(token) = |vector(token)|
//   match(token of the query) = the greatest cosine with a token of the text, at least 0
//   score = half the mean of the matches, by weight, and half the cosine of the sums of the vectors, at least 0
//
// Tokens of type 0 are the query, and of type 1 the text. Numbers that the table does not have are taken for token 1, [UNK].
#texts = affine_map<(text, token) -> (text, token)>
#of_text = affine_map<(text, token) -> (text)>
#tokens = affine_map<(text, token, dimension) -> (text, token)>
#vectors = affine_map<(text, token, dimension) -> (text, token, dimension)>
#sums = affine_map<(text, token, dimension) -> (text, dimension)>
#pairs = affine_map<(text, one, other, dimension) -> (text, one, other)>
#ones = affine_map<(text, one, other, dimension) -> (text, one, dimension)>
#others = affine_map<(text, one, other, dimension) -> (text, other, dimension)>
#pair = affine_map<(text, one, other) -> (text, one, other)>
#one = affine_map<(text, one, other) -> (text, one)>
#other = affine_map<(text, one, other) -> (text, other)>
#wide = affine_map<(text, dimension) -> (text, dimension)>
#all = affine_map<(text, dimension) -> (text)>
#text = affine_map<(text) -> (text)>

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

  func.func @rerank(%input_ids: tensor<?x?xi64>, %attention_mask: tensor<?x?xi64>, %token_type_ids: tensor<?x?xi64>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %table = util.global.load @table : tensor<4096x128xi8>
    %scale = util.global.load @scale : tensor<4096xf32>
    %rows = tensor.dim %input_ids, %c0 : tensor<?x?xi64>
    %length = tensor.dim %input_ids, %c1 : tensor<?x?xi64>

    // 1 for each token of the query, and for each of the text.
    %each = tensor.empty(%rows, %length) : tensor<?x?xf32>
    %asked = linalg.generic {indexing_maps = [#texts, #texts, #texts], iterator_types = ["parallel", "parallel"]}
        ins(%attention_mask, %token_type_ids : tensor<?x?xi64>, tensor<?x?xi64>) outs(%each : tensor<?x?xf32>) {
    ^bb0(%mask: i64, %type: i64, %out: f32):
      %first = arith.constant 0 : i64
      %is_query = arith.cmpi eq, %type, %first : i64
      %counted = arith.select %is_query, %mask, %first : i64
      %one = arith.sitofp %counted : i64 to f32
      linalg.yield %one : f32
    } -> tensor<?x?xf32>
    %given = linalg.generic {indexing_maps = [#texts, #texts, #texts], iterator_types = ["parallel", "parallel"]}
        ins(%attention_mask, %token_type_ids : tensor<?x?xi64>, tensor<?x?xi64>) outs(%each : tensor<?x?xf32>) {
    ^bb0(%mask: i64, %type: i64, %out: f32):
      %first = arith.constant 0 : i64
      %is_query = arith.cmpi eq, %type, %first : i64
      %counted = arith.select %is_query, %first, %mask : i64
      %one = arith.sitofp %counted : i64 to f32
      linalg.yield %one : f32
    } -> tensor<?x?xf32>

    %room = tensor.empty(%rows, %length) : tensor<?x?x128xf32>
    %vectors = linalg.generic {indexing_maps = [#tokens, #vectors], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%input_ids : tensor<?x?xi64>) outs(%room : tensor<?x?x128xf32>) {
    ^bb0(%id: i64, %out: f32):
      %unknown = arith.constant 1 : i64
      %size = arith.constant 4096 : i64
      %is_known = arith.cmpi ult, %id, %size : i64
      %known = arith.select %is_known, %id, %unknown : i64
      %token = arith.index_cast %known : i64 to index
      %dimension = linalg.index 2 : index
      %entry = tensor.extract %table[%token, %dimension] : tensor<4096x128xi8>
      %factor = tensor.extract %scale[%token] : tensor<4096xf32>
      %value = arith.sitofp %entry : i8 to f32
      %scaled = arith.mulf %value, %factor : f32
      linalg.yield %scaled : f32
    } -> tensor<?x?x128xf32>

    %none = linalg.fill ins(%zero : f32) outs(%each : tensor<?x?xf32>) -> tensor<?x?xf32>
    %squares = linalg.generic {indexing_maps = [#vectors, #tokens], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%vectors : tensor<?x?x128xf32>) outs(%none : tensor<?x?xf32>) {
    ^bb0(%value: f32, %sum: f32):
      %square = arith.mulf %value, %value : f32
      %next = arith.addf %sum, %square : f32
      linalg.yield %next : f32
    } -> tensor<?x?xf32>
    %weights = linalg.generic {indexing_maps = [#texts, #texts], iterator_types = ["parallel", "parallel"]}
        ins(%squares : tensor<?x?xf32>) outs(%each : tensor<?x?xf32>) {
    ^bb0(%square: f32, %out: f32):
      %least = arith.constant 1.0e-9 : f32
      %root = math.sqrt %square : f32
      %weight = arith.maximumf %root, %least : f32
      linalg.yield %weight : f32
    } -> tensor<?x?xf32>

    // Of each token with each.
    %square_room = tensor.empty(%rows, %length, %length) : tensor<?x?x?xf32>
    %no_products = linalg.fill ins(%zero : f32) outs(%square_room : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    %products = linalg.generic {indexing_maps = [#ones, #others, #pairs], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%vectors, %vectors : tensor<?x?x128xf32>, tensor<?x?x128xf32>) outs(%no_products : tensor<?x?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %product = arith.mulf %a, %b : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
    } -> tensor<?x?x?xf32>
    %matches = linalg.generic {indexing_maps = [#pair, #one, #other, #other, #one], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%products, %weights, %weights, %given : tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) outs(%none : tensor<?x?xf32>) {
    ^bb0(%product: f32, %a: f32, %b: f32, %counts: f32, %greatest: f32):
      %both = arith.mulf %a, %b : f32
      %cosine = arith.divf %product, %both : f32
      %counted = arith.mulf %cosine, %counts : f32
      %next = arith.maximumf %greatest, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?x?xf32>

    %row = tensor.empty(%rows) : tensor<?xf32>
    %nothing = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
    %matched = linalg.generic {indexing_maps = [#texts, #texts, #texts, #of_text], iterator_types = ["parallel", "reduction"]}
        ins(%matches, %weights, %asked : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) outs(%nothing : tensor<?xf32>) {
    ^bb0(%match: f32, %weight: f32, %counts: f32, %sum: f32):
      %weighted = arith.mulf %match, %weight : f32
      %counted = arith.mulf %weighted, %counts : f32
      %next = arith.addf %sum, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    %whole = linalg.generic {indexing_maps = [#texts, #texts, #of_text], iterator_types = ["parallel", "reduction"]}
        ins(%weights, %asked : tensor<?x?xf32>, tensor<?x?xf32>) outs(%nothing : tensor<?xf32>) {
    ^bb0(%weight: f32, %counts: f32, %sum: f32):
      %counted = arith.mulf %weight, %counts : f32
      %next = arith.addf %sum, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>

    // The vectors that the encoder has for the query and for the text.
    %flat = tensor.empty(%rows) : tensor<?x128xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%flat : tensor<?x128xf32>) -> tensor<?x128xf32>
    %query = linalg.generic {indexing_maps = [#vectors, #tokens, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%vectors, %asked : tensor<?x?x128xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x128xf32>) {
    ^bb0(%value: f32, %counts: f32, %sum: f32):
      %counted = arith.mulf %value, %counts : f32
      %next = arith.addf %sum, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?x128xf32>
    %text = linalg.generic {indexing_maps = [#vectors, #tokens, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%vectors, %given : tensor<?x?x128xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x128xf32>) {
    ^bb0(%value: f32, %counts: f32, %sum: f32):
      %counted = arith.mulf %value, %counts : f32
      %next = arith.addf %sum, %counted : f32
      linalg.yield %next : f32
    } -> tensor<?x128xf32>
    %together = func.call @dot(%query, %text) : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?xf32>
    %query_square = func.call @dot(%query, %query) : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?xf32>
    %text_square = func.call @dot(%text, %text) : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?xf32>

    %scores = linalg.generic {indexing_maps = [#text, #text, #text, #text, #text, #text], iterator_types = ["parallel"]}
        ins(%matched, %whole, %together, %query_square, %text_square : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
        outs(%row : tensor<?xf32>) {
    ^bb0(%sum: f32, %most: f32, %dot: f32, %a: f32, %b: f32, %out: f32):
      %no = arith.constant 0.0 : f32
      %half = arith.constant 0.5 : f32
      %least = arith.constant 1.0e-9 : f32
      %weight = arith.maximumf %most, %least : f32
      %mean = arith.divf %sum, %weight : f32
      %product = arith.mulf %a, %b : f32
      %root = math.sqrt %product : f32
      %lengths = arith.maximumf %root, %least : f32
      %cosine = arith.divf %dot, %lengths : f32
      %near = arith.maximumf %cosine, %no : f32
      %total = arith.addf %mean, %near : f32
      %score = arith.mulf %total, %half : f32
      linalg.yield %score : f32
    } -> tensor<?xf32>
    return %scores : tensor<?xf32>
  }

  func.func private @dot(%a: tensor<?x128xf32>, %b: tensor<?x128xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %a, %c0 : tensor<?x128xf32>
    %row = tensor.empty(%rows) : tensor<?xf32>
    %nothing = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
    %dots = linalg.generic {indexing_maps = [#wide, #wide, #all], iterator_types = ["parallel", "reduction"]}
        ins(%a, %b : tensor<?x128xf32>, tensor<?x128xf32>) outs(%nothing : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %product = arith.mulf %x, %y : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    return %dots : tensor<?xf32>
  }
}
