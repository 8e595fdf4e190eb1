package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pages name members of public types present in the listings, such as {@code CpuOptions.DEFAULTS}. */
class PageMembersTest {
    private static final Pattern MENTIONED = Pattern.compile("(?<![\\w./-])([A-Z]\\w+)((?:[.#][A-Za-z]\\w*)+)");
    private static final Pattern OURS = Pattern.compile("io\\.github\\.iree4j[\\w.]*");
    private static final Pattern MEMBER = Pattern.compile("(\\w+)(?:\\(.*\\))?$");

    /** Members of every type, or of none, and ends of names of files. */
    private static final Set<String> OTHERS = Set.of(
            "class", "java", "md", "close", "equals", "hashCode", "toString", "values", "valueOf", "name", "ordinal");

    /** A type of the example with the name of a type of ours. */
    private static final String EXAMPLE = "Clock.Timeline";

    private final Map<String, Set<String>> members = new HashMap<>();
    private final Map<String, Set<String>> supertypes = new HashMap<>();

    @Test
    void membersInPagesExist() throws IOException {
        for (Path listings : Modules.folders("src/test/resources/api")) {
            for (String name : List.of("public-api.txt", "marked-api.txt")) {
                read(Files.readAllLines(listings.resolve(name)));
            }
        }
        List<String> missing = new ArrayList<>();
        int found = 0;
        for (Path page : pages()) {
            for (MatchResult each :
                    MENTIONED.matcher(Files.readString(page)).results().toList()) {
                if (members.containsKey(each.group(1)) && !each.group().equals(EXAMPLE)) {
                    found++;
                    if (!exists(each.group(1), each.group(2).substring(1).split("[.#]"))) {
                        missing.add(page.getFileName() + ": " + each.group());
                    }
                }
            }
        }
        assertThat(found).as("members in pages").isGreaterThan(100);
        assertThat(missing).isEmpty();
    }

    private void read(List<String> listing) {
        String type = "";
        for (String line : listing) {
            if (line.startsWith(" ")) {
                Set<String> known = members.get(type);
                MEMBER.matcher(line).results().forEach(each -> known.add(each.group(1)));
            } else if (!line.startsWith("package ")) {
                List<String> names =
                        OURS.matcher(line).results().map(MatchResult::group).toList();
                String[] parts = names.getFirst().split("\\.");
                type = parts[parts.length - 1];
                members.computeIfAbsent(type, _ -> new HashSet<>());
                members.computeIfAbsent(parts[parts.length - 2], _ -> new HashSet<>())
                        .add(type); // or a package's
                for (String supertype : names.subList(1, names.size())) {
                    supertypes
                            .computeIfAbsent(type, _ -> new HashSet<>())
                            .add(supertype.substring(supertype.lastIndexOf('.') + 1));
                }
            }
        }
    }

    /** Whether the first name is a member of the type, the second name of the first, if this is a type, and so on. */
    private boolean exists(String type, String[] names) {
        String outer = type;
        for (String name : names) {
            if (!OTHERS.contains(name) && !has(outer, name, new HashSet<>())) {
                return false;
            }
            if (!members.containsKey(name)) {
                return true; // a field's or a result's type is not looked up
            }
            outer = name;
        }
        return true;
    }

    private boolean has(String type, String member, Set<String> seen) {
        return seen.add(type)
                && (members.getOrDefault(type, Set.of()).contains(member)
                        || supertypes.getOrDefault(type, Set.of()).stream().anyMatch(each -> has(each, member, seen)));
    }

    /** Pages for users; {@code WhereTest} reads the page on places in the code. */
    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.list(Path.of("..", "docs"))) {
            return Stream.concat(Stream.of(Path.of("..", "README.md")), docs)
                    .filter(each -> each.toString().endsWith(".md") && !each.endsWith("where.md"))
                    .toList();
        }
    }
}
