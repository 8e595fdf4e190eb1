package io.github.iree4j.sample.search;

/**
 * A part of a document, returned by search as a unit.
 *
 * @param page the document's file, relative to the directory of documents
 * @param title the document's title
 * @param heading the headings above the passage, without the title; empty at the start of a document
 * @param text the text without markup
 */
record Passage(String page, String title, String heading, String text) {

    /** The embedded text: title, heading and text. */
    String content() {
        return heading.isEmpty() ? "%s: %s".formatted(title, text) : "%s, %s: %s".formatted(title, heading, text);
    }
}
