package io.github.iree4j.spring.ai;

import com.hubspot.jinjava.lib.exptest.ExpTest;
import com.hubspot.jinjava.lib.filter.Filter;
import com.hubspot.jinjava.objects.Namespace;
import com.hubspot.jinjava.util.ForLoop;
import java.beans.FeatureDescriptor;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import jinjava.javax.el.ELContext;
import jinjava.javax.el.ELException;
import jinjava.javax.el.ELResolver;
import org.jspecify.annotations.Nullable;

/**
 * The values of chat templates: methods of Python's strings that templates of models call, and a guard in front of the
 * library's own rules, so that templates reach nothing but texts, numbers, booleans, lists, maps, and the state of loops.
 */
final class PythonValues extends ELResolver {

    @Override
    public @Nullable Object getValue(ELContext context, @Nullable Object base, @Nullable Object property) {
        check(base);
        boolean isAtom = base instanceof CharSequence || base instanceof Number || base instanceof Boolean;
        if (isAtom && !(property instanceof Number)) {
            context.setPropertyResolved(true); // undefined: properties of Java's classes are no part of templates
        }
        return null; // not resolved here
    }

    @Override
    public @Nullable Object invoke(
            ELContext context,
            @Nullable Object base,
            @Nullable Object method,
            Class<?> @Nullable [] types,
            @Nullable Object[] arguments) {
        check(base);
        if (base instanceof CharSequence text && method != null) {
            Object result = invoke(text.toString(), method.toString(), arguments);
            if (result != null) {
                context.setPropertyResolved(true);
            }
            return result;
        }
        return null;
    }

    private static void check(@Nullable Object base) {
        boolean known = base instanceof CharSequence
                || base instanceof Number
                || base instanceof Boolean
                || base instanceof Character
                || base instanceof Map
                || base instanceof Collection
                || base instanceof Object[]
                || base instanceof ForLoop
                || base instanceof Namespace
                || base instanceof Filter // named by no template, but called by the library
                || base instanceof ExpTest;
        if (base != null && !known) {
            throw new ELException("a chat template has no access to a value of type "
                    + base.getClass().getName());
        }
    }

    private static @Nullable Object invoke(String text, String method, @Nullable Object[] arguments) {
        String argument = arguments.length > 0 && arguments[0] != null ? arguments[0].toString() : null;
        return switch (method) {
            case "strip" -> strip(text, argument, true, true);
            case "lstrip" -> strip(text, argument, true, false);
            case "rstrip" -> strip(text, argument, false, true);
            case "startswith" -> argument == null ? null : text.startsWith(argument);
            case "endswith" -> argument == null ? null : text.endsWith(argument);
            case "upper" -> text.toUpperCase(Locale.ROOT);
            case "lower" -> text.toLowerCase(Locale.ROOT);
            case "capitalize" ->
                text.isEmpty()
                        ? text
                        : text.substring(0, 1).toUpperCase(Locale.ROOT)
                                + text.substring(1).toLowerCase(Locale.ROOT);
            case "find" -> argument == null ? null : (long) text.indexOf(argument);
            case "split" -> split(text, argument, arguments);
            default -> null;
        };
    }

    private static String strip(String text, @Nullable String characters, boolean start, boolean end) {
        int from = 0;
        int to = text.length();
        while (start && from < to && isIn(text.charAt(from), characters)) {
            from++;
        }
        while (end && from < to && isIn(text.charAt(to - 1), characters)) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean isIn(char letter, @Nullable String characters) {
        return characters == null ? Character.isWhitespace(letter) : characters.indexOf(letter) >= 0;
    }

    private static List<String> split(String text, @Nullable String separator, @Nullable Object[] arguments) {
        int most = arguments.length > 1 && arguments[1] instanceof Number number ? number.intValue() + 1 : -1;
        if (separator == null || separator.isEmpty()) {
            String stripped = text.strip();
            return stripped.isEmpty() ? List.of() : Arrays.asList(stripped.split("\\s+", most));
        }
        return Arrays.asList(text.split(Pattern.quote(separator), most));
    }

    @Override
    public Class<?> getType(ELContext context, @Nullable Object base, @Nullable Object property) {
        return Object.class;
    }

    @Override
    public void setValue(ELContext context, @Nullable Object base, @Nullable Object property, @Nullable Object value) {}

    @Override
    public boolean isReadOnly(ELContext context, @Nullable Object base, @Nullable Object property) {
        return true;
    }

    @Override
    public @Nullable Class<?> getCommonPropertyType(ELContext context, @Nullable Object base) {
        return null;
    }

    @Override
    public @Nullable Iterator<FeatureDescriptor> getFeatureDescriptors(ELContext context, @Nullable Object base) {
        return null;
    }
}
