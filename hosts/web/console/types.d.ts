/** A value of JSON; an integer beyond 2^53 is a `bigint`. */
export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

/** A node of the page, before it is in it. */
export interface Node {
  tag: string;
  key: string | number | undefined;
  props: Props;
  children: Child[];
}

/**
 * Attributes of a node; some names are properties, `on…` hear events, `style` is an object of CSS properties, `key` names the node among its
 * siblings, and `made` is called once with the element, after it is in the page.
 */
export type Props = { [name: string]: any };

export type Child = Node | string;

/** What can be given as children: what is empty is nothing. */
export type Children = Child | number | bigint | boolean | null | undefined | Children[];
