package io.github.iree4j.spirv;

/** SPIR-V numbers known to the reader ({@code spirv.core.grammar.json}). */
final class SpirvOp {
    static final int MAGIC = 0x0723_0203;

    static final int LINE = 8;
    static final int EXTENSION = 10;
    static final int EXT_INST = 12;
    static final int MEMORY_MODEL = 14;
    static final int ENTRY_POINT = 15;
    static final int EXECUTION_MODE = 16;
    static final int CAPABILITY = 17;
    static final int TYPE_BOOL = 20;
    static final int TYPE_INT = 21;
    static final int TYPE_FLOAT = 22;
    static final int TYPE_VECTOR = 23;
    static final int TYPE_MATRIX = 24;
    static final int TYPE_ARRAY = 28;
    static final int TYPE_RUNTIME_ARRAY = 29;
    static final int TYPE_STRUCT = 30;
    static final int TYPE_POINTER = 32;
    static final int CONSTANT_TRUE = 41;
    static final int CONSTANT_FALSE = 42;
    static final int CONSTANT = 43;
    static final int CONSTANT_COMPOSITE = 44;
    static final int SPEC_CONSTANT_TRUE = 48;
    static final int SPEC_CONSTANT_FALSE = 49;
    static final int SPEC_CONSTANT = 50;
    static final int SPEC_CONSTANT_COMPOSITE = 51;
    static final int SPEC_CONSTANT_OP = 52;
    static final int FUNCTION = 54;
    static final int FUNCTION_PARAMETER = 55;
    static final int FUNCTION_END = 56;
    static final int FUNCTION_CALL = 57;
    static final int VARIABLE = 59;
    static final int IMAGE_TEXEL_POINTER = 60;
    static final int LOAD = 61;
    static final int STORE = 62;
    static final int COPY_MEMORY = 63;
    static final int COPY_MEMORY_SIZED = 64;
    static final int ACCESS_CHAIN = 65;
    static final int IN_BOUNDS_ACCESS_CHAIN = 66;
    static final int PTR_ACCESS_CHAIN = 67;
    static final int ARRAY_LENGTH = 68;
    static final int IN_BOUNDS_PTR_ACCESS_CHAIN = 70;
    static final int DECORATE = 71;
    static final int MEMBER_DECORATE = 72;
    static final int VECTOR_SHUFFLE = 79;
    static final int COMPOSITE_CONSTRUCT = 80;
    static final int COMPOSITE_EXTRACT = 81;
    static final int COMPOSITE_INSERT = 82;
    static final int COPY_OBJECT = 83;
    static final int U_CONVERT = 113;
    static final int S_CONVERT = 114;
    static final int CONVERT_PTR_TO_U = 117;
    static final int CONVERT_U_TO_PTR = 120;
    static final int BITCAST = 124;
    static final int I_ADD = 128;
    static final int I_SUB = 130;
    static final int I_MUL = 132;
    static final int U_DIV = 134;
    static final int SELECT = 169;
    static final int SHIFT_LEFT_LOGICAL = 196;
    static final int BITWISE_OR = 197;
    static final int BITWISE_XOR = 198;
    static final int BITWISE_AND = 199;
    static final int ATOMIC_LOAD = 227;
    static final int ATOMIC_STORE = 228;
    static final int ATOMIC_XOR = 242;
    static final int PHI = 245;
    static final int LOOP_MERGE = 246;
    static final int UNREACHABLE = 255;
    static final int EXECUTION_MODE_ID = 331;
    static final int COOPERATIVE_MATRIX_LOAD = 4457;
    static final int COOPERATIVE_MATRIX_STORE = 4458;

    static final int MODEL_COMPUTE = 5;

    static final int ADDRESSING_LOGICAL = 0;
    static final int ADDRESSING_PHYSICAL = 5348;
    static final int MEMORY_GLSL = 1;
    static final int MEMORY_VULKAN = 3;

    static final int CAPABILITY_VULKAN_MEMORY = 5345;
    static final int CAPABILITY_PHYSICAL_ADDRESSES = 5347;

    static final int MODE_LOCAL_SIZE = 17;
    static final int MODE_LOCAL_SIZE_ID = 38;

    static final int DECORATION_SPEC_ID = 1;
    static final int DECORATION_BUFFER_BLOCK = 3;
    static final int DECORATION_ARRAY_STRIDE = 6;
    static final int DECORATION_MATRIX_STRIDE = 7;
    static final int DECORATION_BUILT_IN = 11;
    static final int DECORATION_BINDING = 33;
    static final int DECORATION_DESCRIPTOR_SET = 34;
    static final int DECORATION_OFFSET = 35;

    static final int BUILT_IN_WORKGROUP_SIZE = 25;

    static final int STORAGE_UNIFORM_CONSTANT = 0;
    static final int STORAGE_UNIFORM = 2;
    static final int STORAGE_WORKGROUP = 4;
    static final int STORAGE_FUNCTION = 7;
    static final int STORAGE_PUSH_CONSTANT = 9;
    static final int STORAGE_ATOMIC_COUNTER = 10;
    static final int STORAGE_IMAGE = 11;
    static final int STORAGE_BUFFER = 12;
    static final int STORAGE_PHYSICAL = 5349;

    private SpirvOp() {}
}
