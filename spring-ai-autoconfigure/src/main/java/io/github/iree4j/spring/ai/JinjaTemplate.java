package io.github.iree4j.spring.ai;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.LegacyOverrides;
import com.hubspot.jinjava.el.JinjavaInterpreterResolver;
import com.hubspot.jinjava.el.JinjavaProcessors;
import com.hubspot.jinjava.interpret.Context;
import com.hubspot.jinjava.interpret.InterpreterFactory;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.interpret.RenderResult;
import com.hubspot.jinjava.interpret.TemplateError;
import com.hubspot.jinjava.interpret.TemplateError.ErrorType;
import com.hubspot.jinjava.lib.Importable;
import com.hubspot.jinjava.lib.filter.Filter;
import com.hubspot.jinjava.lib.fn.ELFunctionDefinition;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.FileNotFoundException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jinjava.javax.el.CompositeELResolver;
import org.jspecify.annotations.Nullable;

/**
 * A chat template in Jinja, as the files of models have it, rendered by jinjava. Thread-safe.
 *
 * <p>Templates are part of a model, and may be hostile: the values in a template are texts, numbers, lists and maps and
 * nothing else, see {@link PythonValues}; nothing is included; output, texts, lists, ranges, depth, the number of parts
 * and the time of a rendering are limited. Messages are never read as templates.
 */
final class JinjaTemplate {
    private static final int MOST_CHARACTERS = 1 << 20;
    private static final int MOST_OUTPUT = 1 << 22;
    private static final int MOST_VALUES = 100_000;
    private static final int MOST_RANGE = 1_000;
    private static final int MOST_NODES = 2_000_000;
    private static final long MOST_NANOS = 5_000_000_000L;

    /** The interpreter as a value, by its name in jinjava. */
    private static final String INTERPRETER = "int3rpr3t3r";

    private static final Pattern GENERATION = Pattern.compile("\\{%(-?)\\s*(?:end)?generation\\s*(-?)%\\}");
    private static final Pattern REVERSED = Pattern.compile("\\[\\s*::\\s*-1\\s*\\]");
    private static final Pattern TAG = Pattern.compile(
            "\\{[{%](?:'(?:[^'\\\\]|\\\\.)*+'|\"(?:[^\"\\\\]|\\\\.)*+\"|(?![}%]\\}).)*+[}%]\\}", Pattern.DOTALL);
    private static final Pattern LITERAL =
            Pattern.compile("'(?:[^'\\\\]|\\\\.)*+'|\"(?:[^\"\\\\]|\\\\.)*+\"", Pattern.DOTALL);
    private static final Pattern FILTERED_LOOP =
            Pattern.compile("^\\{%-?\\s*for\\s.*\\sin\\s.*\\sif\\s", Pattern.DOTALL);
    private static final Pattern FILTER = Pattern.compile("\\|\\s*(\\w+)");
    private static final Pattern TEST = Pattern.compile("\\bis\\s+(?:not\\s+)?(\\w+)");

    /** The limits of the rendering in progress on a thread. */
    private static final ThreadLocal<@Nullable Budget> BUDGET = new ThreadLocal<>();

    private final Jinjava jinjava;
    private final String template;
    private final String location;
    private final LongSupplier nanoTime;

    /**
     * Creates a template.
     *
     * @param text the template
     * @param location names the template in messages
     * @param nanoTime the time
     * @throws IreeException INVALID_ARGUMENT for a template that is too long, or uses what is not supported
     */
    JinjaTemplate(String text, String location, LongSupplier nanoTime) {
        this.location = location;
        this.nanoTime = nanoTime;
        if (text.length() > MOST_CHARACTERS) {
            throw invalid("has %d characters, at most %d are read".formatted(text.length(), MOST_CHARACTERS));
        }
        if (text.contains(INTERPRETER)) {
            throw invalid("refers to the interpreter, which templates of models do not");
        }
        String whole = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text; // as Jinja does
        this.template = REVERSED.matcher(GENERATION.matcher(whole).replaceAll("{%$1 if true $2%}{%$1 endif $2%}"))
                .replaceAll("|reverse");
        this.jinjava = new Jinjava(config());
        jinjava.setResourceLocator((name, _, _) -> {
            throw new FileNotFoundException(name + ": a chat template includes nothing");
        });
        jinjava.getGlobalContext().registerFilter(new ToJson());
        jinjava.getGlobalContext()
                .registerFunction(
                        new ELFunctionDefinition("", "raise_exception", JinjaTemplate.class, "raise", Object.class));
        try {
            checkTags();
        } catch (StackOverflowError e) {
            throw invalid("has a tag that is too long");
        }
    }

    /** The library ignores unknown filters and tests, and conditions of loops: the prompt would be wrong, without a word. */
    private void checkTags() {
        Set<String> filters = names(jinjava.getGlobalContext().getAllFilters());
        filters.removeAll(Set.of("random", "render", "shuffle")); // prompts depend on the request alone
        Set<String> tests = names(jinjava.getGlobalContext().getAllExpTests());
        for (Matcher tags = TAG.matcher(template); tags.find(); ) {
            String tag = tags.group();
            String code = LITERAL.matcher(tag).replaceAll("''");
            if (FILTERED_LOOP.matcher(code).find()) {
                throw invalid("has a loop with a condition, '%s'; move the condition into the loop".formatted(tag));
            }
            checkNames("filter", FILTER.matcher(code), filters, tag);
            checkNames("test", TEST.matcher(code), tests, tag);
        }
    }

    private static Set<String> names(Collection<? extends Importable> known) {
        return known.stream().map(Importable::getName).collect(Collectors.toSet());
    }

    private void checkNames(String what, Matcher used, Set<String> known, String tag) {
        while (used.find()) {
            if (!known.contains(used.group(1))) {
                throw invalid("has the unknown %s '%s' in '%s'".formatted(what, used.group(1), tag));
            }
        }
    }

    private static JinjavaConfig config() {
        CompositeELResolver values = new CompositeELResolver();
        values.add(new PythonValues());
        values.add(JinjavaInterpreterResolver.DEFAULT_RESOLVER_READ_ONLY);
        return JinjavaConfig.newBuilder()
                .withElResolver(values)
                .withInterperterFactory(new CountedInterpreters())
                .withNestedInterpretationEnabled(false)
                .withTrimBlocks(true)
                .withLstripBlocks(true)
                .withMaxOutputSize(MOST_OUTPUT)
                .withMaxStringLength(MOST_OUTPUT)
                .withMaxListSize(MOST_VALUES)
                .withMaxMapSize(MOST_VALUES)
                .withRangeLimit(MOST_RANGE)
                .withMaxRenderDepth(20)
                .withEnableRecursiveMacroCalls(true)
                .withMaxMacroRecursionDepth(20)
                .withProcessors(JinjavaProcessors.newBuilder()
                        .withNodePreProcessor((_, _) -> count())
                        .build())
                .withLegacyOverrides(LegacyOverrides.newBuilder()
                        .withEvaluateMapKeys(true)
                        .withUseNaturalOperatorPrecedence(true)
                        .withParseWhitespaceControlStrictly(true)
                        .withAllowAdjacentTextNodes(true)
                        .withUseTrimmingForNotesAndExpressions(true)
                        .withKeepNullableLoopValues(true)
                        .build())
                .build();
    }

    /** The template says that it cannot render the messages. */
    private static final class Raised extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Raised(String message) {
            super(message, null, false, false);
        }
    }

    /** A limit is reached; an error, since the library catches exceptions and goes on. */
    private static final class Exhausted extends Error {
        private static final long serialVersionUID = 1L;

        Exhausted(String message) {
            super(message, null, false, false);
        }
    }

    private static final class Budget {
        private final LongSupplier nanoTime;
        private final long end;
        private int nodes;
        private @Nullable String raised;
        private @Nullable String exhausted;

        Budget(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            this.end = nanoTime.getAsLong() + MOST_NANOS;
        }

        void count() {
            if (exhausted == null && ++nodes > MOST_NODES) {
                exhausted = "it has more than %d parts to render".formatted(MOST_NODES);
            }
            if (exhausted == null && (nodes & 15) == 0 && nanoTime.getAsLong() - end > 0) {
                exhausted = "it takes longer than %d s".formatted(MOST_NANOS / 1_000_000_000L);
            }
            if (exhausted != null) {
                throw new Exhausted(exhausted); // again and again: the library goes on after a failure in a macro
            }
        }
    }

    private static void count() {
        Budget budget = BUDGET.get();
        if (budget != null) {
            budget.count();
        }
    }

    /** Counts expressions, including the expressions of macros. */
    private static final class CountedInterpreter extends JinjavaInterpreter {
        CountedInterpreter(Jinjava application, Context context, JinjavaConfig config) {
            super(application, context, config);
        }

        CountedInterpreter(JinjavaInterpreter original) {
            super(original);
        }

        @Override
        public Object resolveELExpression(String expression, int line) {
            count();
            return super.resolveELExpression(expression, line);
        }
    }

    private static final class CountedInterpreters implements InterpreterFactory {
        @Override
        public JinjavaInterpreter newInstance(JinjavaInterpreter original) {
            return new CountedInterpreter(original);
        }

        @Override
        public JinjavaInterpreter newInstance(Jinjava application, Context context, JinjavaConfig config) {
            return new CountedInterpreter(application, context, config);
        }
    }

    /**
     * A function of templates.
     *
     * @param message why the template cannot render the messages
     */
    public static Object raise(@Nullable Object message) {
        Budget budget = BUDGET.get();
        if (budget != null && budget.raised == null) {
            budget.raised = String.valueOf(message);
        }
        throw new Raised(String.valueOf(message));
    }

    /**
     * Renders the template.
     *
     * @param values the variables; texts, numbers, booleans, lists and maps
     * @throws IreeException INVALID_ARGUMENT when the template fails or says so; RESOURCE_EXHAUSTED at a limit
     */
    String render(Map<String, Object> values) {
        Budget budget = new Budget(nanoTime);
        BUDGET.set(budget);
        RenderResult result = null;
        try {
            result = jinjava.renderForResult(template, values);
        } catch (Exhausted | StackOverflowError e) {
            result = null;
        } catch (RuntimeException e) {
            throw invalid("cannot be rendered: " + e.getMessage());
        } finally {
            BUDGET.remove();
        }
        if (result == null || budget.exhausted != null) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s cannot be rendered: %s"
                            .formatted(location, budget.exhausted == null ? "it is too deep" : budget.exhausted));
        }
        if (budget.raised != null) {
            throw invalid("refuses the messages: " + budget.raised);
        }
        List<String> failures = new ArrayList<>();
        for (TemplateError error : result.getErrors()) {
            if (error.getSeverity() == ErrorType.FATAL) {
                failures.add("line %d: %s".formatted(error.getLineno(), error.getMessage()));
            }
        }
        if (!failures.isEmpty()) {
            throw invalid("cannot be rendered: "
                    + String.join("; ", failures.subList(0, Math.min(3, failures.size()))));
        }
        return result.getOutput();
    }

    private IreeException invalid(String why) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "%s %s".formatted(location, why));
    }

    /** JSON as Python writes it, which is what models were trained with. */
    private static final class ToJson implements Filter {
        @Override
        public String getName() {
            return "tojson";
        }

        @Override
        public @Nullable Object filter(
                @Nullable Object value, JinjavaInterpreter interpreter, Object[] arguments, Map<String, Object> named) {
            Object indent = named.getOrDefault("indent", arguments.length > 0 ? arguments[0] : null);
            return PythonJson.write(value, indent instanceof Number number ? number.intValue() : -1);
        }

        @Override
        public @Nullable Object filter(@Nullable Object value, JinjavaInterpreter interpreter, String... arguments) {
            return PythonJson.write(value, -1);
        }
    }
}
