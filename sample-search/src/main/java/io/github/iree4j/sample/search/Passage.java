package io.github.iree4j.sample.search;

/**
 * A part of a document that is found as a whole.
 *
 * @param page the document's file, relative to the directory of documents
 * @param title the document's title
 * @param heading the headings that it is under, without the title; empty at the start of a document
 * @param text what it says, without markup
 */
record Passage(String page, String title, String heading, String text) {

    /** What is embedded: the text with what it is about. */
    String content() {
        return heading.isEmpty() ? "%s: %s".formatted(title, text) : "%s, %s: %s".formatted(title, heading, text);
    }
}
