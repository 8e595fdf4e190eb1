package io.github.iree4j.mutants;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A plausible mistake.
 *
 * @param id the name
 * @param meaning the effect of the mistake
 * @param file the source with the mistake, below the root package
 * @param edits the changes
 * @param tests simple names of the failing classes, the most likely first
 */
record Mutant(String id, String meaning, String file, List<Edit> edits, List<String> tests) {
    /**
     * A change.
     *
     * @param find the present text: occurs once, whatever the white space
     * @param replacement the text instead
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
     * @throws IllegalArgumentException if the text to be changed is missing, or present more than once
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
