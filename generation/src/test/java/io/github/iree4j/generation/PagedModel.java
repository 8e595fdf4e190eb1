package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.ToLongBiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A model in Java whose cache holds tokens instead of keys and values, so that a wrong, stale or foreign page changes
 * the logits. Logits are small integers, with many ties.
 */
final class PagedModel implements StepRunner, PageMover {
    static final int VOCABULARY = 11;
    static final List<byte[]> TEXTS = Stream.of("a", "b", "c", "ab", "bc", "ca", "abc", "x", "xa", "", "")
            .map(each -> each.getBytes(StandardCharsets.UTF_8))
            .toList();
    private static final long NOTHING = -1;
    private static final long INFINITE = -2;
    private static final long CHUNKED = 1000;

    /** A token of prompts from which on logits are no numbers, and pages hold infinities, padding included. */
    static final int OVERFLOW = 100;

    private final int stride;
    private final boolean prefillPosition;
    private final int maximumColumns;
    private final long[][] memory;
    private final Map<Integer, long[]> host = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private Consumer<Step> before = _ -> {};

    /** Dependencies of the bits of a row beside the row. */
    enum Dependence {
        NOTHING,
        PLACE,
        NEIGHBOURS,
        /** Neighbours of a row of a prefill that begin at another position. */
        OTHER_STARTS,
        /** Neighbours of a row of a decode with another length. */
        OTHER_LENGTHS,
        COLUMNS,
        BATCH,
        /** Pages depend on the chunk of the prompt that they were computed in. */
        CHUNK,
        /** Pages depend on whether a decode step computed them. */
        KIND,
        /** Logits behind the first page depend on whether a decode step computed them. */
        KIND_OF_LOGITS
    }

    private Dependence dependence = Dependence.NOTHING;
    private ToLongBiFunction<Step, Integer> cause = (_, _) -> 0;
    private boolean wrongProposalsSpoil;
    private boolean someSpoil;
    private boolean topOne;
    private long[] highest = new long[0]; // of each row and token, with topOne
    private final Set<Integer> dead = new HashSet<>(); // rows whose earlier steps, of steps ahead, left infinities
    private int stepsAhead;
    private boolean poisoned; // whether a row of the step in progress has left infinities in page 0
    private int spoiled;
    private int untilLoss = Integer.MAX_VALUE; // steps, copies and zeroed pages

    PagedModel(StepShapes shapes, boolean prefillPosition, int pages) {
        this.stride = shapes.stride();
        this.maximumColumns = shapes.maximumColumns();
        this.prefillPosition = prefillPosition;
        this.memory = new long[pages][shapes.stride()];
        for (long[] each : memory) {
            Arrays.fill(each, NOTHING);
        }
    }

    PagedModel depends(Dependence on) {
        dependence = on;
        return this;
    }

    /** Lets the bits of a row depend on a number given by the step and the row; 0 for no other bits. */
    PagedModel depends(ToLongBiFunction<Step, Integer> number) {
        cause = number;
        return this;
    }

    /** Runs a hook before each step. */
    PagedModel before(Consumer<Step> hook) {
        before = hook;
        return this;
    }

    /** Lets half of the proposed tokens that greedy decoding would not choose leave infinities in their pages. */
    PagedModel spoiledByWrongProposals() {
        wrongProposalsSpoil = true;
        return this;
    }

    /** Lets functions return the highest logit and its token only, so that steps run ahead. */
    PagedModel topOne() {
        topOne = true;
        return this;
    }

    /** Returns the number of steps that began before the step before was read. */
    int stepsAhead() {
        return stepsAhead;
    }

    @Override
    public boolean runsAhead(Entry entry) {
        return topOne;
    }

    /** Computes all steps before the results of the first are read, as a device may do. */
    @Override
    public void runAll(Step step, Logits logits, Consumer<Step> each) {
        List<Step> computed = new ArrayList<>();
        List<long[]> tokens = new ArrayList<>();
        List<Logits> results = new ArrayList<>();
        IreeException failure = null;
        Step ahead = step;
        try {
            for (int i = 0; i < step.steps(); i++) {
                Logits result = new Logits();
                compute(ahead, result);
                computed.add(ahead);
                tokens.add(highest);
                results.add(result);
                ahead = ahead.next();
                System.arraycopy(highest, 0, ahead.tokens(), 0, highest.length);
            }
        } catch (IreeException e) {
            failure = e;
        } finally {
            dead.clear();
        }
        stepsAhead += Math.max(0, computed.size() - 1);
        for (int i = 0; i < computed.size(); i++) {
            int batch = step.entry().batch();
            MemorySegment out = logits.reshape(computed.get(i), ElementType.F32, Shape.of(batch, 1, 1));
            for (int row = 0; row < batch; row++) {
                out.asSlice(row * (long) Float.BYTES).copyFrom(results.get(i).bytes(row, 0));
            }
            logits.candidates(tokens.get(i));
            each.accept(computed.get(i));
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Lets logits after a few tokens be no numbers, and the pages hold infinities. */
    PagedModel someSpoil() {
        someSpoil = true;
        return this;
    }

    private static boolean isSpoiling(long hash) {
        return hash % 61 == 0;
    }

    /** Returns whether reading the last token leaves infinities, of a model with {@link #someSpoil}. */
    static boolean isSpoiling(int... tokens) {
        return isSpoiling(hash(tokens, tokens.length));
    }

    /** Returns whether a request to a model with {@link #someSpoil} fails. */
    static boolean isSpoilt(GenerationRequest request) {
        List<Integer> answer = expected(request);
        int[] tokens = Arrays.copyOf(request.prompt(), request.promptLength() + answer.size());
        for (int i = 0; i < answer.size(); i++) {
            tokens[request.promptLength() + i] = answer.get(i);
        }
        return IntStream.range(1, tokens.length).anyMatch(length -> isSpoiling(hash(tokens, length)));
    }

    /** Returns the number of steps and rows that left infinities. */
    int spoiled() {
        return spoiled;
    }

    List<String> violations() {
        return violations;
    }

    /** Loses the device after a number of steps, copied pages and zeroed pages. */
    PagedModel losesDeviceAfter(int operations) {
        untilLoss = operations;
        return this;
    }

    boolean isLost() {
        return untilLoss < 0;
    }

    private void operate() {
        if (untilLoss <= 0) {
            untilLoss = -1;
            throw IreeException.of(StatusCode.ABORTED, "the device is gone", null, new DeviceLost("fake"));
        }
        untilLoss--;
    }

    /** Fills the pages that a step writes to with infinities, as a failed step may do. */
    void spoil(Step step) {
        for (int row = 0; row < step.entry().batch(); row++) {
            for (int i = (int) (step.starts()[row] / stride); i < step.columns(); i++) {
                long page = step.pages()[row * step.columns() + i];
                Arrays.fill(memory[(int) page], INFINITE);
            }
        }
    }

    /** Fills the place of the last token that a row of a step read with infinities. */
    void spoilLast(Step step, int row) {
        int at = (int) step.lengths()[row] - 1;
        memory[(int) step.pages()[row * step.columns() + at / stride]][at % stride] = INFINITE;
    }

    @Override
    public void toHost(int page, int slot) {
        operate();
        host.put(slot, memory[page].clone());
    }

    @Override
    public void toCache(int slot, int page) {
        operate();
        long[] saved = host.get(slot);
        if (saved == null) {
            violations.add("place %d of the host has no page".formatted(slot));
        } else {
            System.arraycopy(saved, 0, memory[page], 0, stride);
        }
    }

    void scrub(int page) {
        operate();
        Arrays.fill(memory[page], NOTHING);
    }

    /** Returns the tokens of a request alone. */
    static List<Integer> expected(GenerationRequest request) {
        int[] tokens = request.prompt();
        int length = tokens.length;
        tokens = Arrays.copyOf(tokens, length + request.maximumTokens());
        Sampler sampler = request.sampler();
        List<Integer> generated = new ArrayList<>();
        while (generated.size() < request.maximumTokens()) {
            int token = sampler.choose(logits(hash(tokens, length)), VOCABULARY);
            tokens[length++] = token;
            generated.add(token);
            if (request.stopTokens().contains(token) || sampler.isComplete()) {
                break;
            }
        }
        return generated;
    }

    private static long hash(int[] tokens, int length) {
        long hash = 17;
        for (int i = 0; i < length; i++) {
            hash = hash * 31 + tokens[i];
        }
        return hash;
    }

    private static int highest(float[] values, int count) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            best = values[i] > values[best] ? i : best;
        }
        return best;
    }

    private static float[] logits(long hash) {
        SplittableRandom random = new SplittableRandom(hash);
        float[] logits = new float[VOCABULARY];
        for (int i = 0; i < VOCABULARY; i++) {
            logits[i] = random.nextInt(6) - 3;
        }
        return logits;
    }

    @Override
    public void run(Step step, Logits logits) {
        compute(step, logits);
        dead.clear();
    }

    private void compute(Step step, Logits logits) {
        before.accept(step);
        operate();
        poisoned = false;
        int batch = step.entry().batch();
        int wide = step.tokensPerRow();
        if (step.entry().prefill() && !prefillPosition && wide != step.columns() * stride) {
            violations.add(step + " has other than columns times stride tokens");
        }
        if (step.columns() > maximumColumns) {
            violations.add(step + " is wider than any sequence");
        }
        if (step.columns() < StepShapes.MINIMUM_COLUMNS
                || wide % stride != 0 && step.entry().prefill()) {
            violations.add(step + " is too small");
        }
        for (int row = 0; row < batch; row++) {
            for (int i = 0; i < wide; i++) {
                long at = step.starts()[row] + i;
                int column = (int) (at / stride);
                if (column >= step.columns()) {
                    violations.add("%s writes to column %d in row %d".formatted(step, column, row));
                    continue;
                }
                long page = step.pages()[row * step.columns() + column];
                long chunk = switch (dependence) {
                    case CHUNK -> wide > 1 ? CHUNKED * (step.starts()[row] * 64 + wide) : 0;
                    case KIND -> step.entry().prefill() ? 0 : CHUNKED;
                    default -> 0;
                };
                memory[(int) page][(int) (at % stride)] = step.tokens()[row * wide + i] + chunk;
            }
        }
        int perToken = topOne ? 1 : VOCABULARY;
        MemorySegment out = logits.reshape(step, ElementType.F32, Shape.of(batch, wide, perToken));
        highest = new long[batch * wide];
        if (topOne) {
            logits.candidates(highest);
        }
        for (int row = 0; row < batch; row++) {
            int read = (int) (step.lengths()[row] - step.starts()[row]);
            int spoilt = read;
            float[] values = new float[VOCABULARY];
            for (int token = 0; token < read; token++) {
                boolean wrong = token >= read - step.proposed(row)
                        && step.tokens()[row * wide + token] != highest(values, VOCABULARY);
                long hash = rowHash(step, row, (int) step.starts()[row] + token + 1);
                values = logits(hash);
                disturb(step, row, values);
                if (token > spoilt
                        || step.tokens()[row * wide + token] == OVERFLOW
                        || someSpoil
                                && isSpoiling(hash)
                                && row < step.sequences().size()
                        || wrongProposalsSpoil && wrong && (hash & 1) == 0) {
                    spoilt = Math.min(spoilt, token);
                    Arrays.fill(values, Float.NaN);
                }
                if (dead.contains(row) || isPoisoned(step, row)) {
                    Arrays.fill(values, Float.NaN);
                }
                highest[row * wide + token] = Math.max(0, highest(values, VOCABULARY));
                for (int i = 0; i < perToken; i++) {
                    float value = topOne ? values[(int) highest[row * wide + token]] : values[i];
                    out.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, ((long) row * wide + token) * perToken + i, value);
                }
            }
            spoilt = dead.contains(row) || isPoisoned(step, row) ? 0 : spoilt;
            if (spoilt < read) {
                dead.add(row);
            }
            spoiled += spoilt < read ? 1 : 0;
            for (int token = spoilt; token < (spoilt < read ? wide : read); token++) {
                int at = (int) step.starts()[row] + token;
                int page = (int) step.pages()[row * step.columns() + at / stride];
                memory[page][at % stride] = INFINITE;
                poisoned |= page == PagePool.SCRATCH;
            }
        }
    }

    /** Returns whether a row reads infinities that another row of the step writes to page 0. */
    private boolean isPoisoned(Step step, int row) {
        return poisoned
                && Arrays.stream(step.pages(), row * step.columns(), (row + 1) * step.columns())
                        .anyMatch(page -> page == PagePool.SCRATCH);
    }

    private long rowHash(Step step, int row, int length) {
        if (dead.contains(row) || isPoisoned(step, row)) {
            return 0;
        }
        for (int i = 0; i < step.columns(); i++) {
            long page = step.pages()[row * step.columns() + i];
            if (Arrays.stream(memory[(int) page]).anyMatch(each -> each == INFINITE)) {
                violations.add("%s reads infinities of page %d, masked or not".formatted(step, page));
            }
        }
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            long page = step.pages()[row * step.columns() + i / stride];
            long token = memory[(int) page][i % stride];
            if (token == NOTHING
                    || page == PagePool.SCRATCH && row < step.sequences().size()) {
                violations.add("%s reads nothing at %d in row %d".formatted(step, i, row));
            }
            tokens[i] = (int) token;
        }
        return hash(tokens, length);
    }

    /** Returns the number of neighbours, without padding, with another number than the row. */
    private static long others(Step step, int row, long[] numbers) {
        return IntStream.range(0, numbers.length)
                .filter(each -> step.lengths()[each] > 1 && numbers[each] != numbers[row])
                .count();
    }

    private void disturb(Step step, int row, float[] values) {
        long cause = switch (dependence) {
            case NOTHING, CHUNK, KIND -> this.cause.applyAsLong(step, row);
            case PLACE -> row;
            case NEIGHBOURS -> {
                long others = 0;
                for (int i = 0; i < step.entry().batch(); i++) {
                    others += i == row ? 0 : step.lengths()[i] - 1;
                }
                yield others;
            }
            case OTHER_STARTS -> step.entry().prefill() ? others(step, row, step.starts()) : 0;
            case OTHER_LENGTHS -> step.entry().prefill() ? 0 : others(step, row, step.lengths());
            case KIND_OF_LOGITS -> step.entry().prefill() || step.starts()[row] < stride ? 0 : 1;
            case COLUMNS -> step.columns();
            case BATCH -> step.entry().batch();
        };
        SplittableRandom errors = new SplittableRandom(cause);
        for (int i = 0; cause != 0 && i < values.length; i++) {
            values[i] += errors.nextInt(3) / 4f;
        }
    }
}
