package io.github.iree4j.generation;

import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The functions of a program for text generation, checked against their declarations.
 *
 * @param program the program
 * @param prefills the prefill functions, by ascending batch size; not empty
 * @param decodes the decode functions, by ascending batch size; not empty
 * @param functions the functions of both
 * @param ahead decode functions with fences that return tokens as the next call takes tokens
 * @param prefillPosition whether prefill functions take {@code start_pos}
 * @param caches the cache arguments, equal for all functions; not empty
 * @param vocabulary number of tokens; 0 if the declarations do not say
 */
record ModelInterface(
        Program program,
        List<Entry> prefills,
        List<Entry> decodes,
        Map<Entry, ProgramFunction> functions,
        Map<Entry, ProgramFunction> ahead,
        boolean prefillPosition,
        List<Cache> caches,
        int vocabulary) {
    private static final Pattern ENTRY = Pattern.compile("(prefill|decode)_bs([1-9][0-9]{0,4})");

    private static final String WITH_FENCES = "$async"; // see Program.functions

    /** Arguments of a decode function before the caches: tokens, lengths, positions, pages. */
    private static final int DECODE_INPUTS = 4;

    /** Arguments of a prefill function before the caches, without the position. */
    private static final int PREFILL_INPUTS = 3;

    /**
     * A cache argument: a tensor of pages.
     *
     * @param elementType type of elements
     * @param elements number of elements of a page
     */
    record Cache(ElementType elementType, long elements) {
        long pageBytes() {
            return elementType.byteSize(elements);
        }
    }

    /**
     * Finds and checks the functions.
     *
     * @throws IreeException INVALID_ARGUMENT for a program with another interface, naming function and argument
     */
    static ModelInterface of(Program program, ModelConfig config) {
        Map<Entry, ProgramFunction> functions = new HashMap<>();
        List<Entry> prefills = entries(program, "prefill", config.prefillBatches(), functions);
        List<Entry> decodes = entries(program, "decode", config.decodeBatches(), functions);
        ProgramFunction decode = get(functions, decodes.getFirst());
        int caches = decode.arguments().size() - DECODE_INPUTS;
        if (caches < 1) {
            throw invalid(
                    decode,
                    "has %d arguments; decode functions have tokens, seq_lens, start_positions, seq_block_ids and a cache or more"
                            .formatted(decode.arguments().size()));
        }
        ProgramFunction prefill = get(functions, prefills.getFirst());
        int inputs = prefill.arguments().size() - caches;
        if (inputs != PREFILL_INPUTS && inputs != PREFILL_INPUTS + 1) {
            throw invalid(
                    prefill,
                    "has %d arguments for %d caches; prefill functions have tokens, start_pos (optional), seq_lens, seq_block_ids and the caches"
                            .formatted(prefill.arguments().size(), caches));
        }
        boolean position = inputs > PREFILL_INPUTS;
        if (config.prefillPosition().isPresent() && config.prefillPosition().get() != position) {
            throw invalid(
                    prefill,
                    "takes %d inputs before the caches, but has_prefill_position of the configuration is %s"
                            .formatted(inputs, config.prefillPosition().get()));
        }
        List<Cache> shapes = new ArrayList<>();
        for (int i = 0; i < caches; i++) {
            shapes.add(cache(decode, DECODE_INPUTS + i));
        }
        int vocabulary = 0;
        for (Entry each : prefills) {
            check(each, get(functions, each), inputs, shapes);
            vocabulary = vocabulary(get(functions, each), vocabulary);
        }
        for (Entry each : decodes) {
            check(each, get(functions, each), DECODE_INPUTS, shapes);
            vocabulary = vocabulary(get(functions, each), vocabulary);
        }
        return new ModelInterface(
                program,
                prefills,
                decodes,
                Map.copyOf(functions),
                ahead(program, decodes, functions),
                position,
                List.copyOf(shapes),
                vocabulary);
    }

    /** Finds functions with fences, whose second result is the token of each row: {@code tensor<{N}x1x1xi64>}. */
    private static Map<Entry, ProgramFunction> ahead(
            Program program, List<Entry> decodes, Map<Entry, ProgramFunction> functions) {
        Map<Entry, ProgramFunction> found = new HashMap<>();
        for (Entry each : decodes) {
            ProgramFunction function = get(functions, each);
            List<ValueDeclaration> results = function.results();
            if (results.size() != 2
                    || !results.get(1).elementType().equals(Optional.of(ElementType.I64))
                    || !results.get(1).shape().equals(Optional.of(List.of((long) each.batch(), 1L, 1L)))) {
                continue;
            }
            try {
                found.put(
                        each,
                        function.isAsynchronous() ? function : program.function(function.fullName() + WITH_FENCES));
            } catch (IreeException e) {
                if (e.code() != StatusCode.NOT_FOUND) {
                    throw e;
                }
            }
        }
        return Map.copyOf(found);
    }

    private static ProgramFunction get(Map<Entry, ProgramFunction> functions, Entry entry) {
        return Objects.requireNonNull(functions.get(entry));
    }

    /** Returns the name of the program in messages. */
    String name() {
        return name(program);
    }

    /** Full names of functions begin with the configured name, which the program itself keeps to its messages. */
    private static String name(Program program) {
        List<ProgramFunction> functions = program.functions();
        String last = functions.isEmpty() ? "" : functions.getLast().fullName();
        return last.indexOf('.') < 0 ? program.name() : last.substring(0, last.indexOf('.'));
    }

    /** Returns whether the functions return the most probable token only, so that no rule can choose another. */
    boolean isGreedy() {
        List<ValueDeclaration> results = get(functions, decodes.getFirst()).results();
        List<Long> shape = results.getLast().shape().orElse(List.of());
        return results.size() == 2 && shape.size() == 3 && shape.getLast() == 1;
    }

    /** Returns the function of an entry. */
    ProgramFunction function(Entry entry) {
        return get(functions, entry);
    }

    private static List<Entry> entries(
            Program program, String kind, List<Integer> batches, Map<Entry, ProgramFunction> functions) {
        List<Entry> found = new ArrayList<>();
        for (ProgramFunction each : program.functions()) {
            Matcher name = ENTRY.matcher(each.name());
            if (name.matches() && name.group(1).equals(kind)) {
                Entry entry = new Entry(each.fullName(), kind.equals("prefill"), Integer.parseInt(name.group(2)));
                found.add(entry);
                functions.put(entry, each);
            }
        }
        Set<Integer> missing = new HashSet<>(batches);
        found.forEach(each -> missing.remove(each.batch()));
        if (found.isEmpty() || !missing.isEmpty()) {
            List<String> names = program.functions().stream()
                    .map(ProgramFunction::name)
                    .sorted()
                    .toList();
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' has no function %s_bs%s for text generation; its functions are %s"
                            .formatted(name(program), kind, missing.isEmpty() ? "{N}" : missing.toString(), names));
        }
        if (!batches.isEmpty()) {
            found.removeIf(each -> !batches.contains(each.batch()));
        }
        found.sort(Comparator.comparingInt(Entry::batch));
        return List.copyOf(found);
    }

    private static Cache cache(ProgramFunction function, int index) {
        ValueDeclaration argument = function.arguments().get(index);
        List<Long> shape = argument.shape().orElse(List.of());
        if (!argument.isTensor() || shape.size() != 2 || shape.get(1) < 1) {
            throw invalid(
                    function, "argument %d is %s, not a cache tensor<?x{elements}>".formatted(index, argument.type()));
        }
        return new Cache(argument.elementType().orElseThrow(), shape.get(1));
    }

    private static void check(Entry entry, ProgramFunction function, int inputs, List<Cache> caches) {
        if (function.arguments().size() != inputs + caches.size()) {
            throw invalid(
                    function,
                    "has %d arguments, others of its kind have %d"
                            .formatted(function.arguments().size(), inputs + caches.size()));
        }
        for (int i = 0; i < inputs; i++) {
            checkInput(entry, function, i, i == 0 || i == inputs - 1 ? 2 : 1);
        }
        for (int i = 0; i < caches.size(); i++) {
            if (!cache(function, inputs + i).equals(caches.get(i))) {
                throw invalid(
                        function,
                        "argument %d is %s, other functions have %s for this cache"
                                .formatted(
                                        inputs + i,
                                        function.arguments().get(inputs + i).type(),
                                        caches.get(i)));
            }
        }
        int results = function.results().size();
        if (results != 1 && results != 2) {
            throw invalid(
                    function, "has %d results, not logits, or values and indices of candidates".formatted(results));
        }
    }

    /** An argument unused by the program may have lost its declaration. */
    private static void checkInput(Entry entry, ProgramFunction function, int index, int rank) {
        ValueDeclaration argument = function.arguments().get(index);
        @Nullable ElementType type = argument.elementType().orElse(null);
        if (type == null && !argument.isTensor()) {
            return;
        }
        List<Long> shape = argument.shape().orElse(List.of());
        if (!Objects.requireNonNull(type).isInteger()
                || type.bitCount() != Long.SIZE
                || shape.size() != rank
                || shape.getFirst() != entry.batch()) {
            throw invalid(
                    function,
                    "argument %d is %s, not tensor<%d%sxi64>"
                            .formatted(index, argument.type(), entry.batch(), rank == 2 ? "x?" : ""));
        }
    }

    private static int vocabulary(ProgramFunction function, int known) {
        List<ValueDeclaration> results = function.results();
        List<Long> shape = results.getFirst().shape().orElse(List.of());
        if (results.size() != 1 || shape.size() != 3 || shape.getLast() < 1) {
            return known;
        }
        long size = shape.getLast();
        if (size > Integer.MAX_VALUE || known != 0 && size != known) {
            throw invalid(
                    function,
                    "returns logits of %d tokens%s".formatted(size, known == 0 ? "" : ", other functions of " + known));
        }
        return (int) size;
    }

    private static IreeException invalid(ProgramFunction function, String why) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "'%s' %s".formatted(function.fullName(), why));
    }
}
