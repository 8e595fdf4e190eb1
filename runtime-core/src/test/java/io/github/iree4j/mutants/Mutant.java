package io.github.iree4j.mutants;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One plausible mistake.
 *
 * @param id what it is called
 * @param meaning what is wrong then
 * @param file the source that it is made in, below the root package
 * @param edits what is changed
 * @param tests simple names of the classes that fail then, those that are most likely to first
 */
record Mutant(String id, String meaning, String file, List<Edit> edits, List<String> tests) {
    /**
     * A change.
     *
     * @param find what is there: occurs once, whatever the white space
     * @param replacement what is there instead
     */
    record Edit(String find, String replacement) {
        private Pattern pattern() {
            return Pattern.compile(
                    Stream.of(find.strip().split("\\s+")).map(Pattern::quote).collect(Collectors.joining("\\s+")));
        }
    }

    /**
     * Makes the mistake.
     *
     * @param source the source as it is
     * @return the source with the mistake
     * @throws IllegalArgumentException when what is to be changed is not there, or more than once
     */
    String applyTo(String source) {
        String changed = source;
        for (Edit edit : edits) {
            Matcher found = edit.pattern().matcher(changed);
            if (!found.find()) {
                throw new IllegalArgumentException(id + " does not apply: " + file + " has no \"" + edit.find + "\"");
            }
            int start = found.start();
            int end = found.end();
            if (found.find()) {
                throw new IllegalArgumentException(
                        id + " does not apply: " + file + " has \"" + edit.find + "\" more than once");
            }
            changed = changed.substring(0, start) + edit.replacement + changed.substring(end);
        }
        return changed;
    }
}
