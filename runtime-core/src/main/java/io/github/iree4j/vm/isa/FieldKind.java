package io.github.iree4j.vm.isa;

/** The encoding of a field of an instruction. All numbers are little-endian. */
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
    /** A string: u16 length, then the bytes, neither padded nor terminated. */
    STRING,
    /** Registers to read: aligned to 2, u16 count, then the registers as u16. */
    OPERANDS,
    /** Registers to write: same encoding as {@link #OPERANDS}. */
    RESULTS,
    /** Tuples per argument of a variadic call, {@link #NOT_A_SEGMENT} for arguments without a span: same encoding as {@link #OPERANDS}. */
    SEGMENTS,
    /** Registers copied on a branch, in order: aligned to 2, u16 count, then pairs (u16 source, u16 target). */
    REMAP,
    /** Cases of a branch table: u16 count, then pairs of {@link #TARGET} and {@link #REMAP}. */
    CASES;

    /** Bit of a {@link #FUNCTION} field marking an import. */
    public static final int IMPORT_BIT = 0x8000_0000;

    /** Segment size marking an ordinary argument. */
    public static final int NOT_A_SEGMENT = 0xFFFF;

    /** Exclusive upper bound of branch targets. */
    public static final int MAX_TARGET = 0x00FF_FFFF;

    /** Alignment of lists, relative to the start of the function. */
    static final int LIST_ALIGNMENT = 2;
}
