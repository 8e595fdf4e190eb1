package io.github.iree4j.vm.isa;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits a function body into instructions and gives access to the fields of the current instruction. Checks that
 * fields lie within the body and that opcodes exist, but not the values of fields. Takes time linear in the body, and
 * memory for branch tables only.
 *
 * <p>The output does not depend on the version: MOVE bits ignored by the version ({@link Isa#movesEverywhere()}) are
 * cleared, so readers of code need not know the version.
 *
 * <p>Not thread-safe. Failures are INVALID_ARGUMENT with offset and bound; the caller adds module and function.
 */
public final class InstructionReader {
    private static final VarHandle I16 = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int MAX_FIELDS = 6;
    private static final int PAIR = 4;

    private static final int ALL = -1;

    private final Isa isa;
    private final byte[] body;
    private final int registerMask;
    private int argumentMask;
    private final int[] start = new int[MAX_FIELDS];
    private int[] cases = new int[8];
    private int caseCount;
    private int offset;
    private int end;
    private @Nullable Opcode opcode;

    /**
     * Reads a function body from the start.
     *
     * @param isa the version of the body
     * @param body the bytes, without padding; not copied
     */
    public InstructionReader(Isa isa, byte[] body) {
        this(isa, body, isa.movesEverywhere());
    }

    private InstructionReader(Isa isa, byte[] body, boolean movesEverywhere) {
        this.isa = isa;
        this.body = body;
        registerMask = movesEverywhere ? ALL : ~RegisterEncoding.MOVE_BIT;
        argumentMask = ALL;
    }

    /**
     * Reads a function body from the start and returns the MOVE bits as they are, regardless of the version.
     *
     * @param isa the version of the body
     * @param body the bytes, without padding; not copied
     * @return the reader
     */
    public static InstructionReader verbatim(Isa isa, byte[] body) {
        return new InstructionReader(isa, body, true);
    }

    /**
     * Moves to the next instruction.
     *
     * @return false at the end of the body
     */
    public boolean next() {
        offset = end;
        if (offset == body.length) {
            opcode = null;
            return false;
        }
        int first = body[offset] & 0xFF;
        int position = offset + 1;
        OpcodeSet set = isa.setOf(first);
        int number = first;
        if (set == null) {
            set = OpcodeSet.CORE;
        } else {
            number = body[require(position, 1, "opcode")] & 0xFF;
            position++;
        }
        Opcode found = isa.opcode(set, number);
        if (found == null) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "offset 0x%x: opcode 0x%02x%s is not in bytecode %s"
                            .formatted(offset, number, set == OpcodeSet.CORE ? "" : " of " + set, isa));
        }
        opcode = found;
        caseCount = 0;
        for (int i = 0; i < found.fields().size(); i++) {
            position = scan(found.fields().get(i), i, position);
        }
        end = position;
        if (registerMask != ALL) {
            argumentMask = isImportCall(found.op()) ? registerMask : ALL;
        }
        return true;
    }

    private boolean isImportCall(int op) {
        return (op == Op.CALL || op == Op.CALL_VARIADIC) && (i32(0) & FieldKind.IMPORT_BIT) != 0;
    }

    /**
     * Makes {@link #next()} continue at an offset. The offset must be the start of an instruction.
     *
     * @param newOffset 0 to the length of the body
     */
    public void seek(int newOffset) {
        if (newOffset < 0 || newOffset > body.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "offset %d is outside of a body of %d bytes".formatted(newOffset, body.length));
        }
        end = newOffset;
    }

    /**
     * Returns the start of the current instruction.
     *
     * @return offset of the first byte, prefix included
     */
    public int offset() {
        return offset;
    }

    /**
     * Returns the start of the next instruction.
     *
     * @return offset after the last byte of the current instruction
     */
    public int end() {
        return end;
    }

    /**
     * Returns the row of the current instruction.
     *
     * @return the opcode
     */
    public Opcode opcode() {
        if (opcode == null) {
            throw new IllegalStateException("no current instruction");
        }
        return opcode;
    }

    /**
     * Returns the position of a field, for messages.
     *
     * @param field index in {@link Opcode#fields()}
     * @return offset of the field's first byte, after alignment, and for lists after the count
     */
    public int offset(int field) {
        return start[field];
    }

    /**
     * Reads a {@link FieldKind#REGISTER}.
     *
     * @param field index in {@link Opcode#fields()}
     * @return the 16 bits, see {@link RegisterEncoding}
     */
    public int register(int field) {
        return heeded(u16(start[field]), registerMask);
    }

    /**
     * Reads a field of four bytes: literals, ordinals, offsets, targets.
     *
     * @param field index in {@link Opcode#fields()}
     * @return the 32 bits
     */
    public int i32(int field) {
        return (int) I32.get(body, start[field]);
    }

    /**
     * Reads a field of eight bytes: literals.
     *
     * @param field index in {@link Opcode#fields()}
     * @return the 64 bits
     */
    public long i64(int field) {
        return (long) I64.get(body, start[field]);
    }

    /**
     * Reads a {@link FieldKind#STRING}.
     *
     * @param field index in {@link Opcode#fields()}
     * @return the bytes as UTF-8, malformed sequences replaced
     */
    public String string(int field) {
        return new String(body, start[field], u16(start[field] - 2), StandardCharsets.UTF_8);
    }

    /**
     * Returns the length of a list: registers, segment sizes, pairs of a remap or cases of a branch table.
     *
     * @param field index in {@link Opcode#fields()}
     * @return the number of elements
     */
    public int count(int field) {
        return u16(start[field] - 2);
    }

    /**
     * Reads an element of {@link FieldKind#OPERANDS}, {@link FieldKind#RESULTS} or {@link FieldKind#SEGMENTS}.
     *
     * @param field index in {@link Opcode#fields()}
     * @param index below {@link #count}
     * @return the 16 bits
     */
    public int item(int field, int index) {
        int item = u16(start[field] + 2 * index);
        return argumentMask == ALL ? item : argument(field, item);
    }

    /**
     * Reads the source of a pair of a {@link FieldKind#REMAP}.
     *
     * @param field index in {@link Opcode#fields()}
     * @param index below {@link #count}
     * @return the 16 bits of the register read
     */
    public int source(int field, int index) {
        return u16(start[field] + PAIR * index);
    }

    /**
     * Reads the target of a pair of a {@link FieldKind#REMAP}.
     *
     * @param field index in {@link Opcode#fields()}
     * @param index below {@link #count}
     * @return the 16 bits of the register written
     */
    public int destination(int field, int index) {
        return u16(start[field] + PAIR * index + 2);
    }

    /**
     * Reads the target of a case of the branch table.
     *
     * @param index below {@link #count} of the field of kind {@link FieldKind#CASES}
     * @return offset of the block
     */
    public int caseTarget(int index) {
        return (int) I32.get(body, cases[2 * index]);
    }

    /**
     * Returns the number of pairs of a case.
     *
     * @param index below {@link #count} of the field of kind {@link FieldKind#CASES}
     * @return the number of pairs
     */
    public int caseCount(int index) {
        return u16(cases[2 * index + 1] - 2);
    }

    /**
     * Reads the source of a pair of a case.
     *
     * @param index below {@link #count} of the field of kind {@link FieldKind#CASES}
     * @param pair below {@link #caseCount}
     * @return the 16 bits of the register read
     */
    public int caseSource(int index, int pair) {
        return u16(cases[2 * index + 1] + PAIR * pair);
    }

    /**
     * Reads the target of a pair of a case.
     *
     * @param index below {@link #count} of the field of kind {@link FieldKind#CASES}
     * @param pair below {@link #caseCount}
     * @return the 16 bits of the register written
     */
    public int caseDestination(int index, int pair) {
        return u16(cases[2 * index + 1] + PAIR * pair + 2);
    }

    private int scan(Field field, int index, int position) {
        String name = field.name();
        switch (field.kind()) {
            case REGISTER -> {
                start[index] = require(position, 2, name);
                return position + 2;
            }
            case CONST_I32, CONST_F32, GLOBAL_OFFSET, GLOBAL_REF, RODATA, FUNCTION, TYPE, TARGET -> {
                start[index] = require(position, 4, name);
                return position + 4;
            }
            case CONST_I64, CONST_F64 -> {
                start[index] = require(position, 8, name);
                return position + 8;
            }
            case STRING -> {
                int length = u16(require(position, 2, name));
                start[index] = require(position + 2, length, name);
                return position + 2 + length;
            }
            case OPERANDS, RESULTS, SEGMENTS -> {
                start[index] = list(position, 2, name);
                return start[index] + 2 * count(index);
            }
            case REMAP -> {
                start[index] = list(position, PAIR, name);
                return start[index] + PAIR * count(index);
            }
            case CASES -> {
                int count = u16(require(position, 2, name));
                start[index] = position + 2;
                return scanCases(count, position + 2);
            }
        }
        throw new AssertionError(field.kind());
    }

    private int scanCases(int count, int first) {
        int position = first;
        for (int i = 0; i < count; i++) {
            require(position, 4, "case target");
            if (2 * caseCount + 2 > cases.length) {
                cases = Arrays.copyOf(cases, 2 * cases.length);
            }
            cases[2 * caseCount] = position;
            int pairs = list(position + 4, PAIR, "case operands");
            cases[2 * caseCount + 1] = pairs;
            caseCount++;
            position = pairs + PAIR * u16(pairs - 2);
        }
        return position;
    }

    /** Returns the start of the elements of the list encoded at a position or, due to alignment, just after. */
    private int list(int position, int elementBytes, String name) {
        int aligned = (position + FieldKind.LIST_ALIGNMENT - 1) & -FieldKind.LIST_ALIGNMENT;
        int count = u16(require(aligned, 2, name));
        return require(aligned + 2, count * elementBytes, name);
    }

    private int require(int position, int bytes, String what) {
        if (bytes > body.length - position) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "offset 0x%x: %s [%d, %d) does not fit a function of %d bytes"
                            .formatted(offset, what, position, (long) position + bytes, body.length));
        }
        return position;
    }

    private int argument(int field, int item) {
        boolean isOperand = opcode().fields().get(field).kind() == FieldKind.OPERANDS;
        return isOperand ? heeded(item, argumentMask) : item;
    }

    private static int heeded(int register, int mask) {
        return RegisterEncoding.isRef(register) ? register & mask : register;
    }

    private int u16(int position) {
        return (short) I16.get(body, position) & 0xFFFF;
    }
}
