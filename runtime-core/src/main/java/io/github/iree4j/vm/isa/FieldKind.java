package io.github.iree4j.vm.isa;

/** How a field of an instruction is encoded. All numbers are little-endian. */
public enum FieldKind {
    /** A register: u16, see {@link RegisterEncoding}. */
    REGISTER,
    /** An i32 literal: 4 bytes. */
    CONST_I32,
    /** An i64 literal: 8 bytes. */
    CONST_I64,
    /** An f32 literal: 4 bytes. */
    CONST_F32,
    /** An f64 literal: 8 bytes. */
    CONST_F64,
    /** A byte offset into the module's global bytes: u32. */
    GLOBAL_OFFSET,
    /** An ordinal of a global reference: u32. */
    GLOBAL_REF,
    /** An ordinal of a rodata segment: u32. */
    RODATA,
    /** A function ordinal: u32; bit 31 set means an import, {@link #IMPORT_BIT}. */
    FUNCTION,
    /** An ordinal of the module's type table: u32. */
    TYPE,
    /** The offset of a block marker from the start of the function: u32. */
    TARGET,
    /** A string: u16 length and that many bytes, neither padded nor terminated. */
    STRING,
    /** Registers that are read: aligned to 2, u16 count, that many u16. */
    OPERANDS,
    /** Registers that are written: same encoding as {@link #OPERANDS}. */
    RESULTS,
    /**
     * Tuples per argument of a variadic call, {@link #NOT_A_SEGMENT} for arguments that are not spans: same encoding as {@link #OPERANDS}.
     */
    SEGMENTS,
    /** Registers copied on a branch, in order: aligned to 2, u16 count, that many pairs (u16 source, u16 target). */
    REMAP,
    /** Cases of a branch table: u16 count, that many pairs of {@link #TARGET} and {@link #REMAP}. */
    CASES;

    /** Bit of a {@link #FUNCTION} field that marks an import. */
    public static final int IMPORT_BIT = 0x8000_0000;

    /** Segment size that marks an ordinary argument. */
    public static final int NOT_A_SEGMENT = 0xFFFF;

    /** Branch targets are below this. */
    public static final int MAX_TARGET = 0x00FF_FFFF;

    /** Alignment of lists, relative to the start of the function. */
    static final int LIST_ALIGNMENT = 2;
}
