/* examples/kinds/caller.c - a program that has work() in itself, or in a library. */
int work(void);

int main(void)
{
    return work();
}
