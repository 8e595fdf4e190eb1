package io.github.iree4j.sample.search;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Splits a document into passages: the paragraphs, list items and table rows, with short neighbours merged and long
 * passages split. Code is omitted.
 */
final class Markdown {

    /** Number of words from which a passage is not merged with a neighbour. */
    private static final int ENOUGH = 40;

    /** Number of words after which a passage is split, at the end of a sentence. */
    private static final int MOST = 90;

    private static final Pattern HEADING = Pattern.compile("(#{1,6})(?:\\s+(.*))?");
    private static final Pattern LINK = Pattern.compile("!?\\[([^\\]]*)]\\([^)]*\\)");
    private static final Pattern QUOTE = Pattern.compile("^>\\s*(\\[!\\w+])?\\s*"); // an alert, such as [!WARNING]
    private static final Pattern RULE = Pattern.compile("\\|?[\\s:|-]+\\|?");

    private final String page;
    private final List<Passage> passages = new ArrayList<>();
    private final List<String> headings = new ArrayList<>();
    private final StringBuilder block = new StringBuilder();
    private String gathered = "";

    private Markdown(String page) {
        this.page = page;
    }

    /**
     * Splits a document.
     *
     * @param page its file
     * @param text its contents
     * @return its passages, in order
     */
    static List<Passage> passages(String page, String text) {
        Markdown markdown = new Markdown(page);
        boolean code = false;
        for (String line : text.lines().toList()) {
            if (line.strip().startsWith("```")) {
                code = !code;
            } else if (!code) {
                markdown.line(line);
            }
        }
        markdown.endOfSection();
        return markdown.passages;
    }

    private void line(String line) {
        Matcher heading = HEADING.matcher(line);
        String stripped = QUOTE.matcher(line.strip()).replaceFirst("");
        if (heading.matches()) {
            endOfSection();
            int level = heading.group(1).length();
            while (headings.size() >= level) {
                headings.removeLast();
            }
            while (headings.size() < level - 1) {
                headings.add("");
            }
            headings.add(heading.group(2) == null ? "" : plain(heading.group(2)));
        } else if (stripped.isEmpty() || stripped.startsWith("<!--")) {
            endOfBlock();
        } else if (stripped.startsWith("|")) {
            endOfBlock();
            if (!RULE.matcher(stripped).matches()) {
                block.append(List.of(stripped.substring(1).split("\\|")).stream()
                        .map(String::strip)
                        .filter(cell -> !cell.isEmpty())
                        .collect(Collectors.joining(": ")));
                endOfBlock();
            }
        } else {
            if (stripped.matches("([-*+]|\\d+\\.)(\\s.*)?")) {
                endOfBlock();
                stripped = stripped.replaceFirst("([-*+]|\\d+\\.)\\s*", "");
            }
            block.append(block.isEmpty() ? "" : " ").append(stripped);
        }
    }

    private void endOfBlock() {
        String text = plain(block.toString());
        block.setLength(0);
        if (!text.isEmpty()) {
            gathered = gathered.isEmpty() ? text : gathered + " " + text;
            if (words(gathered) >= ENOUGH) {
                endOfPassage();
            }
        }
    }

    private void endOfSection() {
        endOfBlock();
        endOfPassage();
    }

    private void endOfPassage() {
        String title = headings.isEmpty() || headings.getFirst().isEmpty() ? page : headings.getFirst();
        String heading =
                headings.stream().skip(1).filter(each -> !each.isEmpty()).collect(Collectors.joining(" › "));
        StringBuilder part = new StringBuilder();
        for (String sentence : gathered.split("(?<=[.;:])\\s+")) {
            if (!part.isEmpty() && words(part) + words(sentence) > MOST) {
                passages.add(new Passage(page, title, heading, part.toString()));
                part.setLength(0);
            }
            part.append(part.isEmpty() ? "" : " ").append(sentence);
        }
        if (!part.toString().isBlank()) {
            passages.add(new Passage(page, title, heading, part.toString()));
        }
        gathered = "";
    }

    private static int words(CharSequence text) {
        return text.toString().split("\\s+").length;
    }

    private static String plain(String markdown) {
        return LINK.matcher(markdown)
                .replaceAll("$1")
                .replace("**", "")
                .replace("`", "")
                .replaceAll("(?<!\\w)\\*([^*]+)\\*(?!\\w)", "$1")
                .replaceAll("\\s+", " ")
                .strip();
    }
}
