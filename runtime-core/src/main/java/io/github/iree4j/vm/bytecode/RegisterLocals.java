package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.D;
import static io.github.iree4j.vm.bytecode.FunctionGraph.F;
import static io.github.iree4j.vm.bytecode.FunctionGraph.I;
import static io.github.iree4j.vm.bytecode.FunctionGraph.L;
import static java.lang.constant.ConstantDescs.CD_Double;
import static java.lang.constant.ConstantDescs.CD_Float;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;

/**
 * The registers of a function as locals of a Java method: a local per register and form. Tracks the forms valid at the
 * point of emission, and converts on reading.
 */
final class RegisterLocals {
    static final ClassDesc REFERENCES = ClassDesc.of(References.class.getName());
    private static final MethodTypeDesc RETAINED = MethodTypeDesc.of(CD_Object, CD_Object);
    private static final MethodTypeDesc RELEASE = MethodTypeDesc.of(CD_void, CD_Object);
    private static final int WORD_BITS = 32;

    private final CodeBuilder code;
    private final int[] ints;
    private final int[] floats;
    private final int[] longs;
    private final int[] doubles;
    private final int[] refs;
    private int next;

    /** The forms valid at the point of emission. */
    WordState state;

    RegisterLocals(CodeBuilder code, FunctionGraph graph, int firstFree) {
        this.code = code;
        ints = new int[graph.words];
        floats = new int[graph.words];
        longs = new int[graph.words / 2];
        doubles = new int[graph.words / 2];
        refs = new int[graph.refs];
        next = firstFree;
        state = new WordState(graph.words);
    }

    /** Allocates a local that is not a register. */
    int local(int slots) {
        int slot = next;
        next += slots;
        return slot;
    }

    int count() {
        return next;
    }

    /** Declares the next parameter of the method as a register. */
    void parameter(byte kind, int register) {
        switch (kind) {
            case I -> ints[register] = local(1);
            case F -> floats[register] = local(1);
            case L -> longs[register >> 1] = local(2);
            case D -> doubles[register >> 1] = local(2);
            default -> refs[register] = local(1);
        }
    }

    boolean isParameter(int ref) {
        return refs[ref] != 0;
    }

    private int slot(int[] slots, int index, int size) {
        if (slots[index] == 0) {
            slots[index] = local(size);
        }
        return slots[index];
    }

    /** Pushes a word or a pair. */
    void load(byte kind, int w) {
        switch (kind) {
            case I -> loadInt(w);
            case F -> {
                if ((state.words[w] & F) != 0) {
                    code.fload(slot(floats, w, 1));
                } else {
                    loadInt(w);
                    code.invokestatic(CD_Float, "intBitsToFloat", MethodTypeDesc.of(CD_float, CD_int));
                }
            }
            case L -> loadLong(w);
            case D -> {
                if ((state.pairs[w >> 1] & D) != 0) {
                    code.dload(slot(doubles, w >> 1, 2));
                } else {
                    loadLong(w);
                    code.invokestatic(CD_Double, "longBitsToDouble", MethodTypeDesc.of(CD_double, CD_long));
                }
            }
            default -> code.aload(refSlot(w));
        }
    }

    private void loadInt(int w) {
        if ((state.words[w] & I) != 0) {
            code.iload(slot(ints, w, 1));
        } else if ((state.words[w] & F) != 0) {
            code.fload(slot(floats, w, 1));
            code.invokestatic(CD_Float, "floatToRawIntBits", MethodTypeDesc.of(CD_int, CD_float));
        } else if (state.pairs[w >> 1] != 0) {
            loadLong(w & ~1);
            if ((w & 1) != 0) {
                code.loadConstant(WORD_BITS).lushr();
            }
            code.l2i();
        } else {
            throw new NotCompiledException("register " + w + " is read before it has a value");
        }
    }

    private void loadLong(int w) {
        int pair = w >> 1;
        if ((state.pairs[pair] & L) != 0) {
            code.lload(slot(longs, pair, 2));
        } else if ((state.pairs[pair] & D) != 0) {
            code.dload(slot(doubles, pair, 2));
            code.invokestatic(CD_Double, "doubleToRawLongBits", MethodTypeDesc.of(CD_long, CD_double));
        } else {
            loadInt(w);
            code.i2l().loadConstant(0xFFFF_FFFFL).land();
            loadInt(w + 1);
            code.i2l().loadConstant(WORD_BITS).lshl().lor();
        }
    }

    /** Pops a word or a pair into a register. */
    void store(byte kind, int w, boolean keepsOther) {
        if (!RegisterPlan.isWide(kind) && state.splits(w, keepsOther)) {
            loadInt(w ^ 1);
            code.istore(slot(ints, w ^ 1, 1));
        }
        state.set(kind, w, keepsOther);
        put(kind, w);
    }

    private void put(byte kind, int w) {
        switch (kind) {
            case I -> code.istore(slot(ints, w, 1));
            case F -> code.fstore(slot(floats, w, 1));
            case L -> code.lstore(slot(longs, w >> 1, 2));
            case D -> code.dstore(slot(doubles, w >> 1, 2));
            default -> throw new IllegalArgumentException("kind " + kind);
        }
    }

    void move(Move move) {
        int from = move.from;
        if (move.ref) {
            take(from);
            putRef(move.to);
        } else if (!move.wide) {
            byte form = state.formOf(from);
            if (form == 0) {
                if (state.splits(move.to, move.keepsOther)) {
                    loadInt(move.to ^ 1);
                    code.istore(slot(ints, move.to ^ 1, 1));
                }
                state.forget(move.to, move.keepsOther);
            } else {
                load(form, from);
                store(form, move.to, move.keepsOther);
            }
        } else {
            byte pair = (byte) Integer.lowestOneBit(state.pairs[from >> 1]);
            byte low = (byte) Integer.lowestOneBit(state.words[from]);
            byte high = (byte) Integer.lowestOneBit(state.words[from + 1]);
            if (pair != 0) {
                load(pair, from);
                put(pair, move.to);
            } else {
                if (low != 0) {
                    load(low, from);
                    put(low, move.to);
                }
                if (high != 0) {
                    load(high, from + 1);
                    put(high, move.to + 1);
                }
            }
            state.apply(move);
        }
    }

    /** Loads all registers of a frame used from here on into locals. */
    void fill(WordState filled, FrameEmitter frames) {
        for (int w = 0; w < filled.words.length; w++) {
            byte kind = filled.words[w];
            if ((w & 1) == 0 && filled.pairs[w >> 1] != 0) {
                kind = filled.pairs[w >> 1];
            }
            if (kind != 0) {
                frames.fill(kind, w);
                put(kind, w);
            }
        }
        state = new WordState(filled);
    }

    /** Converts registers used later to the forms expected by a block. */
    void convert(WordState wanted) {
        for (int w = 0; w < wanted.words.length; w += 2) {
            int pair = w >> 1;
            convert(wanted.pairs[pair] & ~state.pairs[pair], w);
            convert(wanted.words[w] & ~state.words[w], w);
            convert(wanted.words[w + 1] & ~state.words[w + 1], w + 1);
        }
        state = new WordState(wanted);
    }

    private void convert(int missing, int w) {
        for (int left = missing; left != 0; left &= left - 1) {
            byte kind = (byte) Integer.lowestOneBit(left);
            load(kind, w);
            put(kind, w);
        }
    }

    int refSlot(int operand) {
        return slot(refs, operand & ~Code.MOVE, 1);
    }

    /** Pushes a reference to be owned by the stack. */
    void take(int operand) {
        code.aload(refSlot(operand));
        if ((operand & Code.MOVE) != 0) {
            code.aconst_null().astore(refSlot(operand));
        } else {
            code.invokestatic(REFERENCES, "retained", RETAINED);
        }
    }

    /** Pops an owned reference into a register, and releases the previous reference. */
    void putRef(int register) {
        int slot = refSlot(register);
        code.aload(slot).swap().astore(slot).invokestatic(REFERENCES, "release", RELEASE);
    }

    /** Empties a register. */
    void clearRef(int register) {
        int slot = refSlot(register);
        code.aload(slot).aconst_null().astore(slot).invokestatic(REFERENCES, "release", RELEASE);
    }

    /** Releases the object in a register not read again. */
    void releaseRef(int register) {
        code.aload(refSlot(register)).invokestatic(REFERENCES, "release", RELEASE);
    }
}
