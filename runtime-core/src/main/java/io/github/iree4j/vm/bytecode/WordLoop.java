package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.Interpreter.getLong;
import static io.github.iree4j.vm.bytecode.Interpreter.putLong;

import io.github.iree4j.vm.isa.Op;

/** Runs instructions that need only the words of a single frame: arithmetic, comparisons, jumps. */
final class WordLoop {
    /*
     * Inner loops of programs consist of such instructions, so this loop is separate from Interpreter's loop: with no
     * calls and five locals, HotSpot keeps all locals in registers. In one loop with calls and references, the same
     * instructions took three times as long.
     */

    /** Backward jumps before the caller can check for cancellation. */
    private static final int JUMPS = 10_000;

    private WordLoop() {}

    /**
     * Runs to the first instruction of another kind.
     *
     * @return the index of this instruction; or, after many backward jumps, the complement of the index to continue at
     */
    static int run(long[] code, int start, int[] words) {
        int pc = start;
        int jumps = JUMPS;
        while (true) {
            long w = code[pc++];
            int a = (char) (w >> 16);
            int b = (char) (w >> 32);
            int c = (int) (w >>> 48);
            switch ((char) w) {
                case Op.CONST_I32:
                    words[a] = (int) (w >>> 32);
                    break;
                case Op.CONST_I64:
                    putLong(words, a, w >> 32);
                    break;
                case Code.CONST_I64_WIDE:
                    putLong(words, a, code[pc++]);
                    break;
                case Code.MOVE_WORD:
                    words[b] = words[a];
                    break;
                case Code.MOVE_WIDE:
                    putLong(words, b, getLong(words, a));
                    break;
                case Op.ADD_I32:
                    words[c] = words[a] + words[b];
                    break;
                case Op.SUB_I32:
                    words[c] = words[a] - words[b];
                    break;
                case Op.MUL_I32:
                    words[c] = words[a] * words[b];
                    break;
                case Op.AND_I32:
                    words[c] = words[a] & words[b];
                    break;
                case Op.OR_I32:
                    words[c] = words[a] | words[b];
                    break;
                case Op.XOR_I32:
                    words[c] = words[a] ^ words[b];
                    break;
                case Op.SHL_I32:
                    words[c] = words[a] << words[b];
                    break;
                case Op.SHR_I32_S:
                    words[c] = words[a] >> words[b];
                    break;
                case Op.SHR_I32_U:
                    words[c] = words[a] >>> words[b];
                    break;
                case Op.CMP_EQ_I32:
                    words[c] = words[a] == words[b] ? 1 : 0;
                    break;
                case Op.CMP_NE_I32:
                    words[c] = words[a] != words[b] ? 1 : 0;
                    break;
                case Op.CMP_LT_I32_S:
                    words[c] = words[a] < words[b] ? 1 : 0;
                    break;
                case Op.CMP_LT_I32_U:
                    words[c] = Integer.compareUnsigned(words[a], words[b]) < 0 ? 1 : 0;
                    break;
                case Op.MIN_I32_S:
                    words[c] = Math.min(words[a], words[b]);
                    break;
                case Op.MAX_I32_S:
                    words[c] = Math.max(words[a], words[b]);
                    break;
                case Op.NOT_I32:
                    words[b] = ~words[a];
                    break;
                case Op.TRUNC_I32_I8:
                    words[b] = words[a] & 0xFF;
                    break;
                case Op.TRUNC_I32_I16:
                    words[b] = words[a] & 0xFFFF;
                    break;
                case Op.EXT_I8_I32_S:
                    words[b] = (byte) words[a];
                    break;
                case Op.EXT_I16_I32_S:
                    words[b] = (short) words[a];
                    break;
                case Op.CMP_NZ_I32:
                    words[b] = words[a] != 0 ? 1 : 0;
                    break;
                case Op.ADD_I64:
                    putLong(words, c, getLong(words, a) + getLong(words, b));
                    break;
                case Op.SUB_I64:
                    putLong(words, c, getLong(words, a) - getLong(words, b));
                    break;
                case Op.MUL_I64:
                    putLong(words, c, getLong(words, a) * getLong(words, b));
                    break;
                case Op.AND_I64:
                    putLong(words, c, getLong(words, a) & getLong(words, b));
                    break;
                case Op.OR_I64:
                    putLong(words, c, getLong(words, a) | getLong(words, b));
                    break;
                case Op.XOR_I64:
                    putLong(words, c, getLong(words, a) ^ getLong(words, b));
                    break;
                case Op.MIN_I64_S:
                    putLong(words, c, Math.min(getLong(words, a), getLong(words, b)));
                    break;
                case Op.MAX_I64_S:
                    putLong(words, c, Math.max(getLong(words, a), getLong(words, b)));
                    break;
                case Op.SHL_I64:
                    putLong(words, c, getLong(words, a) << words[b]);
                    break;
                case Op.SHR_I64_S:
                    putLong(words, c, getLong(words, a) >> words[b]);
                    break;
                case Op.SHR_I64_U:
                    putLong(words, c, getLong(words, a) >>> words[b]);
                    break;
                case Op.NOT_I64:
                    putLong(words, b, ~getLong(words, a));
                    break;
                case Op.EXT_I32_I64_S:
                    putLong(words, b, words[a]);
                    break;
                case Op.EXT_I32_I64_U:
                    putLong(words, b, words[a] & 0xFFFF_FFFFL);
                    break;
                case Op.CMP_EQ_I64:
                    words[c] = getLong(words, a) == getLong(words, b) ? 1 : 0;
                    break;
                case Op.CMP_NE_I64:
                    words[c] = getLong(words, a) != getLong(words, b) ? 1 : 0;
                    break;
                case Op.CMP_LT_I64_S:
                    words[c] = getLong(words, a) < getLong(words, b) ? 1 : 0;
                    break;
                case Op.CMP_LT_I64_U:
                    words[c] = Long.compareUnsigned(getLong(words, a), getLong(words, b)) < 0 ? 1 : 0;
                    break;
                case Op.CMP_NZ_I64:
                    words[b] = getLong(words, a) != 0 ? 1 : 0;
                    break;
                case Op.ADD_F32:
                    words[c] = Float.floatToRawIntBits(Float.intBitsToFloat(words[a]) + Float.intBitsToFloat(words[b]));
                    break;
                case Op.SUB_F32:
                    words[c] = Float.floatToRawIntBits(Float.intBitsToFloat(words[a]) - Float.intBitsToFloat(words[b]));
                    break;
                case Op.MUL_F32:
                    words[c] = Float.floatToRawIntBits(Float.intBitsToFloat(words[a]) * Float.intBitsToFloat(words[b]));
                    break;
                case Op.DIV_F32:
                    words[c] = Float.floatToRawIntBits(Float.intBitsToFloat(words[a]) / Float.intBitsToFloat(words[b]));
                    break;
                case Op.SELECT_I32:
                    words[(int) code[pc++]] = words[a] != 0 ? words[b] : words[c];
                    break;
                case Op.SELECT_I64:
                    putLong(words, (int) code[pc++], getLong(words, words[a] != 0 ? b : c));
                    break;
                case Op.FMA_I32:
                    words[(int) code[pc++]] = words[a] * words[b] + words[c];
                    break;
                case Op.FMA_I64:
                    putLong(words, (int) code[pc++], getLong(words, a) * getLong(words, b) + getLong(words, c));
                    break;
                case Code.CMP_LT_I32_S_BR: {
                    boolean taken = words[a] < words[b];
                    words[c] = taken ? 1 : 0;
                    long targets = code[pc + 1];
                    int target = (int) (taken ? targets : targets >>> 32);
                    long edges = code[pc];
                    if (edges >>> 32 != 0) {
                        int whenTrue = (int) (edges >>> 32) & 0xFFFF;
                        int whenFalse = (int) (edges >>> 48);
                        move(code, taken ? pc + 2 : pc + 2 + whenTrue, taken ? whenTrue : whenFalse, words);
                    }
                    if (target <= pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                case Code.CMP_EQ_I32_BR: {
                    boolean taken = words[a] == words[b];
                    words[c] = taken ? 1 : 0;
                    long targets = code[pc + 1];
                    int target = (int) (taken ? targets : targets >>> 32);
                    long edges = code[pc];
                    if (edges >>> 32 != 0) {
                        int whenTrue = (int) (edges >>> 32) & 0xFFFF;
                        int whenFalse = (int) (edges >>> 48);
                        move(code, taken ? pc + 2 : pc + 2 + whenTrue, taken ? whenTrue : whenFalse, words);
                    }
                    if (target <= pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                case Code.CMP_NE_I32_BR: {
                    boolean taken = words[a] != words[b];
                    words[c] = taken ? 1 : 0;
                    long targets = code[pc + 1];
                    int target = (int) (taken ? targets : targets >>> 32);
                    long edges = code[pc];
                    if (edges >>> 32 != 0) {
                        int whenTrue = (int) (edges >>> 32) & 0xFFFF;
                        int whenFalse = (int) (edges >>> 48);
                        move(code, taken ? pc + 2 : pc + 2 + whenTrue, taken ? whenTrue : whenFalse, words);
                    }
                    if (target <= pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                case Code.CMP_LT_I64_S_BR: {
                    boolean taken = getLong(words, a) < getLong(words, b);
                    words[c] = taken ? 1 : 0;
                    long targets = code[pc + 1];
                    int target = (int) (taken ? targets : targets >>> 32);
                    long edges = code[pc];
                    if (edges >>> 32 != 0) {
                        int whenTrue = (int) (edges >>> 32) & 0xFFFF;
                        int whenFalse = (int) (edges >>> 48);
                        move(code, taken ? pc + 2 : pc + 2 + whenTrue, taken ? whenTrue : whenFalse, words);
                    }
                    if (target <= pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                case Op.COND_BR: {
                    boolean taken = words[a] != 0;
                    long targets = code[pc];
                    int target = (int) (taken ? targets : targets >>> 32);
                    if (w >>> 32 != 0) {
                        move(code, taken ? pc + 1 : pc + 1 + b, taken ? b : c, words);
                    }
                    if (target < pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                case Op.BR: {
                    move(code, pc, a, words);
                    int target = (int) (w >>> 32);
                    if (target < pc && --jumps == 0) {
                        return ~target;
                    }
                    pc = target;
                    break;
                }
                default:
                    return pc - 1;
            }
        }
    }

    /** Copies registers along an edge, in order. */
    private static void move(long[] code, int first, int count, int[] words) {
        for (int i = first; i < first + count; i++) {
            long w = code[i];
            int a = (char) (w >> 16);
            int b = (char) (w >> 32);
            words[b] = words[a];
            if ((int) (w & 0xFFFF) == Code.MOVE_WIDE) {
                words[b + 1] = words[a + 1];
            }
        }
    }
}
