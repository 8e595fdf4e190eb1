package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.IntKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Full pages of prompts, and of answers where any step may compute them, kept for later prompts that begin with the same
 * tokens: a radix tree whose edges are the tokens of a page. Not thread-safe.
 *
 * <p>A sequence <em>pins</em> all nodes from the root to its last shared page. Unpinned nodes are idle, and are evicted
 * in the order of their last unpinning.
 *
 * <p>Invariant: the first idle node has no children. A node is pinned as long as any descendant is pinned, and paths
 * are unpinned from the end, so descendants become idle before the node.
 */
final class PrefixTree {
    private final int stride;
    private final Node root = new Node(null, new IntKey(new int[0]), PagePool.SCRATCH);
    private final LinkedHashSet<Node> idle = new LinkedHashSet<>();

    PrefixTree(int stride) {
        this.stride = stride;
    }

    /** A full page whose tokens follow the tokens of its parents. */
    static final class Node {
        private final @Nullable Node parent;
        private final IntKey key; // the tokens of the page
        private final int page;
        private final Map<IntKey, Node> children = new HashMap<>();
        private int pins;

        private Node(@Nullable Node parent, IntKey key, int page) {
            this.parent = parent;
            this.key = key;
            this.page = page;
        }

        int page() {
            return page;
        }
    }

    /** Returns the number of pages not used by any sequence. */
    int idlePages() {
        return idle.size();
    }

    /** Returns the pages not used by any sequence, in the order of eviction. */
    List<Integer> idle() {
        return idle.stream().map(Node::page).toList();
    }

    /** Returns the longest path of at most {@code pages} pages with the first tokens; not pinned yet. */
    List<Node> match(int[] tokens, int pages) {
        List<Node> path = new ArrayList<>();
        Node node = root;
        for (int i = 0; i < pages; i++) {
            node = node.children.get(key(tokens, i));
            if (node == null) {
                break;
            }
            path.add(node);
        }
        return path;
    }

    /** Returns how many nodes of a path are idle. */
    static int unpinned(List<Node> path) {
        int count = 0;
        for (Node each : path) {
            count += each.pins == 0 ? 1 : 0;
        }
        return count;
    }

    /** Returns how many nodes become idle when a pinned path is unpinned, after another path is pinned. */
    static int freed(List<Node> path, List<Node> other) {
        int count = 0;
        for (int i = 0; i < path.size(); i++) {
            boolean common = i < other.size() && other.get(i) == path.get(i);
            count += path.get(i).pins == 1 && !common ? 1 : 0;
        }
        return count;
    }

    /** Pins a path. */
    void pin(List<Node> path) {
        for (Node each : path) {
            if (each.pins++ == 0) {
                idle.remove(each);
            }
        }
    }

    /** Unpins a path. */
    void unpin(List<Node> path) {
        for (Node each : path.reversed()) {
            if (--each.pins == 0) {
                idle.add(each);
            }
        }
    }

    /**
     * Adds a page after a pinned path, or finds the page with the same tokens, and pins the node, which the caller adds
     * to the path.
     *
     * @param path the pinned nodes of the pages before
     * @param tokens all tokens of the sequence
     * @param page the page; kept by the tree unless the node has another page
     */
    Node extend(List<Node> path, int[] tokens, int page) {
        Node parent = path.isEmpty() ? root : path.getLast();
        Node node = parent.children.computeIfAbsent(key(tokens, path.size()), key -> new Node(parent, key, page));
        if (node.pins++ == 0) {
            idle.remove(node);
        }
        return node;
    }

    /**
     * Unpins a path whose pages may hold infinities, and removes the pages that no other path pins.
     *
     * @return the removed pages, and the pages after them
     */
    List<Integer> discard(List<Node> path) {
        unpin(path);
        List<Integer> pages = new ArrayList<>();
        for (Node each : path) {
            if (each.pins == 0) { // and so are all descendants
                Objects.requireNonNull(each.parent).children.remove(each.key);
                remove(each, pages);
                break;
            }
        }
        return pages;
    }

    private void remove(Node node, List<Integer> pages) {
        node.children.values().forEach(each -> remove(each, pages));
        idle.remove(node);
        pages.add(node.page);
    }

    /** Removes the page unused for the longest time; there must be an idle page. */
    int evict() {
        Node node = idle.removeFirst();
        if (!node.children.isEmpty() || node.parent == null) {
            throw new IllegalStateException("page " + node.page + " is evicted before the pages after it");
        }
        node.parent.children.remove(node.key);
        return node.page;
    }

    private IntKey key(int[] tokens, int page) {
        return new IntKey(Arrays.copyOfRange(tokens, page * stride, (page + 1) * stride));
    }
}
